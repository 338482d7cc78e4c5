#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/manifest_entry.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_diff {

using Json = nlohmann::ordered_json;

struct Options {
  std::string before, after;
  bool exit_code = false;
};

const char* kind_word(Difference::Kind kind) {
  switch (kind) {
    case Difference::Kind::added:
      return "added";
    case Difference::Kind::removed:
      return "removed";
    case Difference::Kind::changed:
      break;
  }
  return "changed";
}

std::string line_of(const Difference& difference) {
  const Entry& entry = difference.after ? *difference.after : *difference.before;
  const char sign = difference.kind == Difference::Kind::added     ? '+'
                    : difference.kind == Difference::Kind::removed ? '-'
                                                                   : '~';
  std::string line = fmt::format("{} {}", sign, printable(entry.path.text(), 4096));
  if (difference.kind == Difference::Kind::changed && difference.before->is_file() && difference.after->is_file()) {
    line += fmt::format("  ({} -> {})", format_bytes(difference.before->digest.size_bytes),
                        format_bytes(difference.after->digest.size_bytes));
  }
  return line;
}

int run(Context& context, const Options& options) {
  const SessionSettings& settings = context.configuration.session;
  const Manifest before = find_manifest(options.before, settings);
  const Manifest after = find_manifest(options.after, settings);
  std::uint64_t count = 0;
  const bool json = context.presentation.json;
  if (json) {
    std::string head =
        Json{{"schema", 1}, {"before", before.root().prefixed()}, {"after", after.root().prefixed()}}.dump();
    head.pop_back();
    context.out.begin_record(head + ",\"differences\":[");
  }
  diff(before, after, [&](const Difference& difference) {
    if (!json) {
      context.out.print(line_of(difference) + "\n");
    } else {
      Json record{{"kind", kind_word(difference.kind)}};
      record["before"] = difference.before ? entry_record(*difference.before) : Json(nullptr);
      record["after"] = difference.after ? entry_record(*difference.after) : Json(nullptr);
      if (count > 0) context.out.print(",");
      context.out.print(record.dump());
    }
    ++count;
  });
  const int exit = count > 0 && options.exit_code ? exit_code(FailureKind::content) : 0;
  if (json) context.out.print(fmt::format("],\"exit\":{}}}\n", exit));
  if (!json) context.say(count == 0 ? "the same" : fmt::format("{} differences", count));
  return exit;
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
    "sabath manifest diff cosmoflow_mini mine.manifest --exit-code",
    "+ added, - removed, ~ changed. Equal sub-trees are not read, so one change among a million files is found at "
    "once.",
    false,
    cmd_manifest_diff::declare,
};

}  // namespace sabath::cli
