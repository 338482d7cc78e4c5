#include "verbs/manifests/tree_manifest.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/file.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

void hash_tree(ManifestBuilder& builder, const std::filesystem::path& path, unsigned threads, EventSink& events,
               const std::stop_token& stop) {
  const auto status = try_stat(path);
  if (!status) {
    throw Error(FailureKind::not_found, fmt::format("cannot hash {}: no such file", printable(path.string(), 4096)));
  }
  if (S_ISREG(status->st_mode)) {
    const Fd fd = open_file(path, O_RDONLY);
    FileTree tree = hash_file(fd.get(), static_cast<std::uint64_t>(status->st_size));
    builder.add_file(RelativePath::parse(path.filename().string()), tree.digest, std::move(tree.chunks),
                     (status->st_mode & S_IXUSR) != 0);
    return;
  }
  if (!S_ISDIR(status->st_mode)) {
    throw Error(FailureKind::invalid,
                fmt::format("cannot hash {}: neither a directory nor a file", printable(path.string(), 4096)));
  }
  events.on(event::AssetStarted{path.string(), std::nullopt, 0});
  events.on(event::PhaseChanged{"hash"});
  add_directory_tree(builder, path, threads, [&](std::uint64_t bytes) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "hashing was stopped");
    events.on(event::BytesReceived{0, bytes});
  });
}

}  // namespace sabath
