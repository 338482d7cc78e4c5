#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/manifests.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_verify {

struct Options {
  std::string manifest, directory;
  std::optional<std::uint64_t> threads;
  bool allow_extra = false;
};

void tell(const Context& context, const ManifestVerifyRecord& record, bool allow_extra) {
  for (const auto& bad : record.bad) {
    const std::string place =
        bad.chunk ? fmt::format(": chunk {} at byte {}", *bad.chunk, *bad.chunk * chunk_size_bytes) : "";
    context.warn(fmt::format("{}{}: {}", printable(bad.path, 4096), place, bad.what));
  }
  for (const std::string& path : record.missing) context.warn(fmt::format("{}: missing", printable(path, 4096)));
  for (const std::string& path : record.extra) {
    if (!allow_extra) context.warn(fmt::format("{}: not in the manifest", printable(path, 4096)));
  }
}

int run(Context& context, const Options& options) {
  const ManifestVerifyRequest request{.manifest = options.manifest,
                                      .path = options.directory,
                                      .allow_extra = options.allow_extra,
                                      .threads = static_cast<unsigned>(options.threads.value_or(0))};
  Session session(context.configuration.session);
  const ManifestVerifyRecord record = verify_manifest(session, request, *context.make_progress(), context.stop);
  tell(context, record, options.allow_extra);
  if (context.presentation.json) context.out.record(json_of(record));
  const std::string directory = printable(options.directory, 4096);
  context.say(record.exit == 0 ? fmt::format("{}: {}, {}: verified", directory, counted(record.files, "file"),
                                             format_bytes(record.bytes))
                               : fmt::format("{}: {} bad, {} missing, {} extra", directory, record.bad.size(),
                                             record.missing.size(), record.extra.size()));
  return record.exit;
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
