#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/manifests.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_create {

struct Options {
  std::string path, output;
  std::optional<std::uint64_t> threads;
};

int run(Context& context, const Options& options) {
  if (options.output.empty()) throw Error(FailureKind::usage, "manifest create needs -o FILE");
  const ManifestCreateRequest request{
      .path = options.path, .output = options.output, .threads = static_cast<unsigned>(options.threads.value_or(0))};
  Session session(context.configuration.session);
  const ManifestCreateRecord record = create_manifest(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  context.out.print(record.manifest.prefixed() + "\n");
  context.say(fmt::format("{}: {}, {}", record.file.string(), counted(record.totals.files, "file"),
                          format_bytes(record.totals.bytes)));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("PATH", options->path, "a directory, or one file");
  set.option("-o,--output", "FILE", options->output, "the manifest file to write");
  set.count("-j,--threads", "N", 1024, options->threads, "threads that read and hash (default: one a core)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_manifest_create
}  // namespace

constexpr Verb manifest_create_verb{
    "manifest create",
    "hash a directory into a manifest file",
    "sabath manifest create data/ -o data.manifest     prints sha256:<root>\n"
    "sabath fetch mine --manifest data.manifest        pins a fetch to it",
    "The root names regular files, directories, relative symlinks and executable bits; times and owners do not count, "
    "so "
    "the same content gives the same root everywhere. A device, a socket or a symlink that leaves PATH is refused.",
    true,
    cmd_manifest_create::declare,
};

}  // namespace sabath::cli
