#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "verbs/tree_manifest.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_create {

namespace fs = std::filesystem;

struct Options {
  std::string path, output;
  std::optional<std::uint64_t> threads;
};

int run(Context& context, const Options& options) {
  if (options.output.empty()) throw Error(FailureKind::usage, "manifest create needs -o FILE");
  const fs::path output = options.output;
  if (const auto status = try_stat(output); status && !S_ISREG(status->st_mode)) {
    throw Error(FailureKind::usage,
                fmt::format("cannot write a manifest to {}: it is no regular file", output.string()));
  }
  ManifestBuilder builder;
  const auto progress = context.make_progress();
  hash_tree(builder, options.path, static_cast<unsigned>(options.threads.value_or(0)), *progress, context.stop);
  fs::path unfinished = output;
  unfinished += ".new";
  const Sha256 root = builder.write(unfinished);
  std::error_code error;
  fs::rename(unfinished, output, error);
  if (error) throw_errno("rename a new manifest to", output, error.value());
  const Totals totals = Manifest::open(output).totals();
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"manifest", root.prefixed()},
                        {"file", output.string()},
                        {"files", totals.files},
                        {"directories", totals.directories},
                        {"symlinks", totals.symlinks},
                        {"bytes", totals.bytes},
                        {"exit", 0}});
    return 0;
  }
  context.out.print(root.prefixed() + "\n");
  context.say(fmt::format("{}: {} files, {}", output.string(), totals.files, format_bytes(totals.bytes)));
  return 0;
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
