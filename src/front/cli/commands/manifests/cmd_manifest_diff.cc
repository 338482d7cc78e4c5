#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/manifest.h"
#include "verbs/manifests/manifest_fields.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_diff {

std::string line_of(const ManifestDifference& difference) {
  const auto& [kind, before, after] = difference;
  const char sign = kind == "added" ? '+' : kind == "removed" ? '-' : '~';
  std::string line = fmt::format("{} {}", sign, printable((after ? after : before)->path, 4096));
  const auto is_file = [](const auto& entry) {
    return entry && (entry->type == "file" || entry->type == "executable");
  };
  if (is_file(before) && is_file(after))
    line += fmt::format("  ({} -> {})", format_bytes(before->size), format_bytes(after->size));
  return line;
}

int run(Context& context, ManifestDiffRequest request) {
  const bool json = context.presentation.json;
  std::uint64_t count = 0;
  LongRecord text(context.out);
  request.on_difference = [&](const ManifestDiffRecord& head, const ManifestDifference& difference) {
    ++count;
    if (json)
      text.add(record_json(head), element_json(difference));
    else
      context.out.print(line_of(difference) + "\n");
  };
  Session session(context.configuration.session);
  NoEvents unheard;
  const ManifestDiffRecord record = manifest_diff(session, request, unheard, context.stop);
  if (json) text.end(record_json(record));
  if (!json) context.say(count == 0 ? "the same" : fmt::format("{} differences", count));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<ManifestDiffRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_manifest_diff
}  // namespace

constexpr Verb manifest_diff_verb{
    .name = "manifest diff",
    .summary = "print what differs between two manifests",
    .examples =
        "sabath manifest diff old.manifest new.manifest\n"
        "sabath manifest diff mnist mine.manifest --exit-code",
    .details =
        "+ added, - removed, ~ changed. Equal sub-trees are not read, so one change among a million files is found at "
        "once.",
    .declare = cmd_manifest_diff::declare,
};

}  // namespace sabath::cli
