#include "packing/stored_environment.h"

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "manifest/manifest.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

namespace fs = std::filesystem;

PackingPlace::PackingPlace(Store& store) : takes_(store), directory_(fs::canonical(store.make_temporary_directory())) {
  fs::create_directory(tree());
}

PackingPlace::~PackingPlace() { remove_tree(directory_); }

AdmitsFile admits_of(const Store& store) {
  return [&store](const fs::path& file, const std::string& name) {
    try {
      store.admit(file, name);
    } catch (const Error& error) {
      Failure failure = error.failure();
      if (failure.kind == FailureKind::access)
        failure.hint = "let them read it, its directories included, or remove it; or pack into a store of your own";
      throw Error(failure);
    }
  };
}

void add_directories_and_links(ManifestBuilder& builder, const fs::path& tree) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(tree, error), end; !error && at != end; at.increment(error)) {
    const auto path = RelativePath::parse(at->path().native().substr(tree.native().size() + 1));
    if (at->is_symlink())
      builder.add_symlink(path, fs::read_symlink(at->path()).native());
    else if (at->is_directory())
      builder.add_directory(path);
  }
  if (error) throw_errno("list", tree, error.value());
}

StoredEnvironment store_environment(Store& store, PackingPlace& place, EventSink& events, const std::stop_token& stop) {
  StoredEnvironment stored;
  ManifestBuilder builder;
  const fs::path tree = place.tree();
  add_directories_and_links(builder, tree);
  std::vector<std::string> files;
  for_each_packed_file(tree, [&](const std::string& path) { files.push_back(path); });
  std::vector<TakenFile> taken = place.takes().take(
      tree, files,
      [&](std::uint64_t bytes) {
        events.on(event::BytesReceived{0, bytes});
      },
      stop);
  for (std::size_t i = 0; i < files.size(); ++i) {
    stored.bytes += taken[i].tree.digest.size_bytes;
    ++stored.files;
    builder.add_file(RelativePath::parse(files[i]), taken[i].tree.digest, std::move(taken[i].tree.chunks),
                     taken[i].executable);
  }
  stored.root = store.put_manifest(builder);
  return stored;
}

}  // namespace sabath
