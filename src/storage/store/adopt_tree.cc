#include "store/adopt_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/wording.h"
#include "manifest/directory_tree.h"
#include "sabath/error.h"
#include "store/state.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Absolute and without symlinks: the objects' symlinks must not depend on a program's working directory.
fs::path place_of(const Store& store, const fs::path& directory) {
  std::error_code error;
  fs::path place = fs::canonical(directory, error);
  const auto there = error ? std::nullopt : try_stat(place);
  if (!there || !S_ISDIR(there->st_mode)) {
    throw Error(FailureKind::usage, fmt::format("{} is not a directory", printable(directory.native())),
                fmt::format("adopt takes a directory; a single file goes with `{} NAME {} FILE`", verb_text("fetch"),
                            option_text("link")));
  }
  const fs::path own = fs::weakly_canonical(store.directory(), error);
  if (is_below(place, own) || is_below(own, place)) {
    throw Error(FailureKind::usage,
                fmt::format("{} and the store {} hold each other", printable(place.native()), printable(own.native())),
                "adopt data that lies beside the store");
  }
  return place;
}

class Adoption {
 public:
  Adoption(Store& store, fs::path top) : all_(store), store_(store.state()), top_(std::move(top)) {}

  // The object links to the path, and evidence notes the hashed file: if they differ, evidence no longer matches.
  void take(const RelativePath& path, const Digest& digest, const struct stat& status) {
    const fs::path target = top_ / path.text();
    all_.admit(target, printable(target.native()));
    const auto placed = store_.objects.place(digest, touched_, [&](const fs::path& to) {
      if (::symlink(target.c_str(), to.c_str()) == 0) return Move::done;
      if (errno != EEXIST) throw_errno("link as", to, errno);
      return Move::occupied;
    });
    if (placed == Objects::Placed::here) store_.evidence.add(digest, status);
  }
  void finish() {
    for (const auto& directory : touched_) sync_directory(directory);
    store_.evidence.flush();
  }

 private:
  const Store& all_;
  Store::State& store_;
  const fs::path top_;
  Objects::Directories touched_;
};

}  // namespace

AdoptedTree adopt_tree(Store& store, const fs::path& directory, unsigned threads,
                       const std::function<void(std::uint64_t)>& on_bytes) {
  const fs::path top = place_of(store, directory);
  const Lease lease = store.lease({}, "adopt " + top.filename().native(), {true});
  Adoption adoption(store, top);
  ManifestBuilder builder;
  add_directory_tree(builder, top, threads, on_bytes,
                     [&](const RelativePath& path, const Digest& digest, const struct stat& status) {
                       adoption.take(path, digest, status);
                     });
  adoption.finish();
  const Sha256 root = store.put_manifest(builder);
  return {root, store.manifest(root)->totals()};
}

}  // namespace sabath
