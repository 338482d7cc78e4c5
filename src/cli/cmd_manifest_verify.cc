#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets.h"
#include "verbs/tree_manifest.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_verify {

using Json = nlohmann::ordered_json;

struct Options {
  std::string manifest, directory;
  std::optional<std::uint64_t> threads;
  bool allow_extra = false;
};

struct Report {
  struct Bad {
    std::string path, what;
    std::optional<std::uint64_t> chunk;
  };
  std::vector<Bad> bad;
  std::vector<std::string> missing, extra;
};

// The chunks of a changed file that differ; a file of another length or kind is wrong as a whole.
void compare(const Manifest& expected, const Manifest& found, const Difference& difference, Report& report) {
  const Entry& before = *difference.before;
  const Entry& after = *difference.after;
  const std::string& path = before.path.text();
  if (!before.is_file() || !after.is_file()) {
    report.bad.push_back({path, "is of another kind, or leads elsewhere", std::nullopt});
    return;
  }
  if (before.type != after.type) report.bad.push_back({path, "has another executable bit", std::nullopt});
  if (before.digest.size_bytes != after.digest.size_bytes) {
    report.bad.push_back(
        {path, fmt::format("has {} bytes, not {}", after.digest.size_bytes, before.digest.size_bytes), std::nullopt});
    return;
  }
  const auto want = expected.chunks(before), have = found.chunks(after);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i] != have[i]) report.bad.push_back({path, "does not match its hash", i});
  }
}

Report compare_all(const Manifest& expected, const Manifest& found) {
  Report report;
  diff(expected, found, [&](const Difference& difference) {
    switch (difference.kind) {
      case Difference::Kind::added:
        report.extra.push_back(difference.after->path.text());
        break;
      case Difference::Kind::removed:
        report.missing.push_back(difference.before->path.text());
        break;
      case Difference::Kind::changed:
        compare(expected, found, difference, report);
        break;
    }
  });
  return report;
}

int exit_of(const Report& report, const Totals& totals, bool allow_extra) {
  if (!report.bad.empty() || (!allow_extra && !report.extra.empty())) return exit_code(FailureKind::content);
  if (report.missing.empty()) return 0;
  return exit_code(report.missing.size() >= totals.files ? FailureKind::offline : FailureKind::partial);
}

Json record_of(const Manifest& expected, const Options& options, const Report& report, int exit) {
  Json record{{"schema", 1},
              {"manifest", expected.root().prefixed()},
              {"path", options.directory},
              {"files", expected.totals().files},
              {"bytes", expected.totals().bytes}};
  record["bad"] = Json::array();
  for (const Report::Bad& bad : report.bad) {
    record["bad"].push_back({{"path", bad.path},
                             {"chunk", bad.chunk ? Json(*bad.chunk) : Json(nullptr)},
                             {"offset", bad.chunk ? Json(*bad.chunk * chunk_size_bytes) : Json(nullptr)},
                             {"what", bad.what}});
  }
  record["missing"] = report.missing;
  record["extra"] = report.extra;
  record["exit"] = exit;
  return record;
}

void tell(const Context& context, const Report& report, bool allow_extra) {
  for (const Report::Bad& bad : report.bad) {
    const std::string place =
        bad.chunk ? fmt::format(": chunk {} at byte {}", *bad.chunk, *bad.chunk * chunk_size_bytes) : "";
    context.warn(fmt::format("{}{}: {}", printable(bad.path, 4096), place, bad.what));
  }
  for (const std::string& path : report.missing) context.warn(fmt::format("{}: missing", printable(path, 4096)));
  for (const std::string& path : report.extra) {
    if (!allow_extra) context.warn(fmt::format("{}: not in the manifest", printable(path, 4096)));
  }
}

int run(Context& context, const Options& options) {
  const Manifest expected = find_manifest(options.manifest, context.configuration.session);
  expected.check();
  ManifestBuilder builder;
  const auto progress = context.make_progress();
  hash_tree(builder, options.directory, static_cast<unsigned>(options.threads.value_or(0)), *progress, context.stop);
  const Manifest found = Manifest::parse(builder.bytes());
  const Report report = compare_all(expected, found);
  const int exit = exit_of(report, expected.totals(), options.allow_extra);
  tell(context, report, options.allow_extra);
  if (context.presentation.json) context.out.record(record_of(expected, options, report, exit));
  const Totals totals = expected.totals();
  context.say(exit == 0 ? fmt::format("{}: {} files, {}: verified", printable(options.directory, 4096), totals.files,
                                      format_bytes(totals.bytes))
                        : fmt::format("{}: {} bad, {} missing, {} extra", printable(options.directory, 4096),
                                      report.bad.size(), report.missing.size(), report.extra.size()));
  return exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("MANIFEST", options->manifest, "a manifest file, an asset in the store, or sha256:HEX");
  set.argument("PATH", options->directory, "the directory, or the one file, that it should name");
  set.flag("--allow-extra", options->allow_extra, "files that the manifest does not name are no failure");
  set.count("-j,--threads", "N", 1024, options->threads, "threads that read and hash (default: one a core)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_manifest_verify
}  // namespace

constexpr Verb manifest_verify_verb{
    "manifest verify",
    "compare a directory with a manifest",
    "sabath manifest verify data.manifest data/\n"
    "sabath manifest verify sha256:<root> /scratch/copy --allow-extra",
    "Every bad chunk is named with its file, its number and its byte offset. Exit code 7 when content differs or there "
    "is "
    "more than the manifest names, 8 when a part is missing, 9 when all is.",
    true,
    cmd_manifest_verify::declare,
};

}  // namespace sabath::cli
