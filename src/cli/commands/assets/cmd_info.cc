#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/told/asset_text.h"
#include "cli/verbs.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_info {

struct Options {
  std::vector<std::string> names;
  std::string kind, format;
  bool lineage = false;
};

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const InfoRecord record =
      info(session, {options.names, try_parse_kind(options.kind), options.format, options.lineage, context.environment},
           unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  if (!options.format.empty()) {
    std::string documents;
    for (const AssetDescription& asset : record.assets) documents += (documents.empty() ? "" : "\n") + asset.document;
    context.out.print(documents);
    return record.exit;
  }
  const std::size_t width = std::min(terminal_width(STDOUT_FILENO, context.environment), 110U);
  std::string text;
  for (const AssetDescription& asset : record.assets) text += (text.empty() ? "" : "\n") + text_of(asset, width);
  for (const Tombstone& stone : record.removed) text += (text.empty() ? "" : "\n") + text_of(stone, width);
  context.out.print(text);
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, true, "an asset, NAME@VERSION, or a recipe file");
  set.choice("-k,--kind", kind_words(), options->kind, "when a dataset and a model share the name");
  set.choice("-f,--format", {"jsonld", "hpc", "schema.org", "croissant", "datacite", "ro-crate", "bibtex", "cff"},
             options->format, "the metadata as another tool reads them");
  set.flag("--lineage", options->lineage, "of a derived asset: every step that made it, back to where it began");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_info
}  // namespace

constexpr Verb info_verb{
    "info",
    "all that is known of an asset",
    "sabath info cosmoflow            its sources, checksums, licence, where it stands\n"
    "sabath info ./datasets/mine.json a recipe of your own\n"
    "sabath info --json cosmoflow     the same for a program\n"
    "sabath info --format croissant cosmoflow   for MLCommons' tools; also datacite, bibtex and more\n"
    "sabath info --lineage NAME       how a derived asset came to be",
    "",
    false,
    cmd_info::declare,
    false,
    true,
};

}  // namespace sabath::cli
