#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/manifests.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_diff {

struct Options {
  std::string before, after;
  bool exit_code = false;
};

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

int run(Context& context, const Options& options) {
  const bool json = context.presentation.json;
  std::uint64_t count = 0;
  LongRecord text(context.out);
  const auto on_difference = [&](const ManifestDiffRecord& head, const ManifestDifference& difference) {
    ++count;
    if (json)
      text.add(json_of(head), json_of(difference));
    else
      context.out.print(line_of(difference) + "\n");
  };
  Session session(context.configuration.session);
  NoEvents unheard;
  const ManifestDiffRecord record = diff_manifests(session,
                                                   {.before = options.before,
                                                    .after = options.after,
                                                    .exit_code = options.exit_code,
                                                    .on_difference = on_difference},
                                                   unheard, context.stop);
  if (json) text.end(json_of(record));
  if (!json) context.say(count == 0 ? "the same" : fmt::format("{} differences", count));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("BEFORE", options->before, "a manifest file, an asset in the store, or sha256:HEX");
  set.argument("AFTER", options->after, "the other one");
  set.flag("--exit-code", options->exit_code, "end with 7 when they differ");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_manifest_diff
}  // namespace

constexpr Verb manifest_diff_verb{
    "manifest diff",
    "print what differs between two manifests",
    "sabath manifest diff old.manifest new.manifest\n"
    "sabath manifest diff mnist mine.manifest --exit-code",
    "+ added, - removed, ~ changed. Equal sub-trees are not read, so one change among a million files is found at "
    "once.",
    false,
    cmd_manifest_diff::declare,
};

}  // namespace sabath::cli
