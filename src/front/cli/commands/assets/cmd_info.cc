#include <unistd.h>

#include <algorithm>

#include "cli/described.h"
#include "cli/told/asset_text.h"
#include "cli/verbs.h"

namespace sabath::cli {
namespace {
namespace cmd_info {

void print(Context& context, const InfoRecord& record) {
  const bool asked = std::ranges::any_of(record.assets, [](const auto& asset) { return !asset.document.empty(); });
  if (asked) {
    std::string documents;
    for (const AssetDescription& asset : record.assets) documents += (documents.empty() ? "" : "\n") + asset.document;
    return context.out.print(documents);
  }
  const std::size_t width = std::min(terminal_width(STDOUT_FILENO, context.environment), 110U);
  std::string text;
  for (const AssetDescription& asset : record.assets) text += (text.empty() ? "" : "\n") + text_of(asset, width);
  for (const Tombstone& stone : record.removed) text += (text.empty() ? "" : "\n") + text_of(stone, width);
  context.out.print(text);
}

}  // namespace cmd_info
}  // namespace

constexpr Verb info_verb{
    .name = "info",
    .summary = "show all that is known of an asset",
    .examples =
        "sabath info cosmoflow             its sources, checksums, licence, path\n"
        "sabath info ./datasets/mine.json  a recipe of your own\n"
        "sabath info --json cosmoflow      the same for a program\n"
        "sabath info --format croissant cosmoflow   for MLCommons' tools; also datacite, bibtex and more\n"
        "sabath info --lineage NAME        how a derived asset came to be",
    .details = "",
    .declare = declare<info, cmd_info::print>,
    .once = true,
};

}  // namespace sabath::cli
