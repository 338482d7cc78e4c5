#include "packing/stored_environment.h"

#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "manifest/manifest.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/take.h"

namespace sabath {

namespace fs = std::filesystem;

PackingPlace::PackingPlace(Store& store) : directory_(fs::canonical(store.make_temporary_directory())) {
  fs::create_directory(tree());
}

PackingPlace::~PackingPlace() { remove_tree(directory_); }

StoredEnvironment store_environment(Store& store, const fs::path& tree, EventSink& events,
                                    const std::stop_token& stop) {
  StoredEnvironment stored;
  ManifestBuilder builder;
  std::error_code error;
  for (fs::recursive_directory_iterator at(tree, error), end; !error && at != end; at.increment(error)) {
    const auto path = RelativePath::parse(at->path().native().substr(tree.native().size() + 1));
    if (at->is_symlink())
      builder.add_symlink(path, fs::read_symlink(at->path()).native());
    else if (at->is_directory())
      builder.add_directory(path);
  }
  if (error) throw_errno("list", tree, error.value());
  std::vector<std::string> files;
  for_each_packed_file(tree, [&](const std::string& path) { files.push_back(path); });
  for (const std::string& path : files) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const auto status = try_lstat(tree / path);
    const bool executable = status && (status->st_mode & S_IXUSR) != 0;
    FileTree content = take_file(store, tree / path);
    events.on(event::BytesReceived{0, content.digest.size_bytes});
    stored.bytes += content.digest.size_bytes;
    ++stored.files;
    builder.add_file(RelativePath::parse(path), content.digest, std::move(content.chunks), executable);
  }
  stored.root = store.put_manifest(builder);
  return stored;
}

}  // namespace sabath
