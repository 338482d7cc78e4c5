#include "fetch/shown_view.h"

#include <fmt/format.h>

#include "base/file.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// Where an object stands the view links it, or clones it.
std::uint64_t copied_bytes(const Store& store, const Manifest& manifest) {
  std::uint64_t bytes = 0;
  manifest.for_each([&](const Entry& entry) {
    if (entry.is_file() && !try_lstat(store.object_path(entry.digest))) bytes += entry.digest.size_bytes;
  });
  return bytes;
}

}  // namespace

std::uint64_t view_inodes(const Manifest& manifest) {
  const Totals totals = manifest.totals();
  return totals.files + totals.directories + totals.symlinks + 1;
}

std::filesystem::path show_view(Store& store, SpaceGuard& space, const Manifest& manifest, const std::string& name) {
  if (store.view_present(manifest)) return store.view_path(manifest.root());
  if (store.packed(manifest)) {
    space.reserve(copied_bytes(store, manifest), view_inodes(manifest), fmt::format("the view of {}", printable(name)));
  }
  return store.make_view(manifest);
}

}  // namespace sabath
