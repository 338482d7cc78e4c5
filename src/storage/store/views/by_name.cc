#include "store/views/by_name.h"

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "store/disk/listing.h"
#include "store/disk/owners.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// The view; in a store of one user the object, where the asset is one plain file at the top.
fs::path target_of(const Layout& layout, const Manifest& manifest) {
  const Totals totals = manifest.totals();
  fs::path target = layout.view(manifest.root());
  if (totals.files != 1 || totals.directories + totals.symlinks > 0) return target;
  if (layout.of_several_users()) return target;  // any member may replace the name of an object
  manifest.for_each([&](const Entry& entry) {
    const fs::path object = layout.object(entry.digest);
    if (entry.type == EntryType::file && try_lstat(object)) target = object;
  });
  return target;
}

}  // namespace

void link_by_name(Store& store, const std::string& name, const Manifest& manifest) noexcept {
  try {
    Store::State& state = store.state();
    const fs::path link = state.layout.names() / name, target = target_of(state.layout, manifest);
    if (!try_lstat(target)) return;
    const fs::path text = fs::path("..") / target.lexically_relative(state.layout.root());
    std::error_code none;
    if (fs::read_symlink(link, none) == text) return;  // a store that is all right is not written to
    if (!try_lstat(link.parent_path())) state.layout.members().make_directories(link.parent_path());
    const fs::path made = state.temporaries.new_name();
    if (::symlink(text.c_str(), made.c_str()) == 0 && ::rename(made.c_str(), link.c_str()) != 0) ::unlink(made.c_str());
  } catch (const std::exception&) {  // a store that cannot be written, or a full disk: the asset is there all the same
  }
}

std::vector<fs::path> lost_links(const Store::State& store) {
  std::vector<fs::path> lost;
  for (const fs::path& room : rooms_of_all(store.layout, store.layout.names())) {
    if (!may_remove_from(room)) continue;
    for (const fs::path& link : list_directory(room)) {
      std::error_code none;
      const fs::path text = fs::read_symlink(link, none);  // as link_by_name() writes it; no link is followed
      if (none || text.empty() || *text.begin() != "..") continue;
      if (!try_lstat(store.layout.root() / text.lexically_relative(".."))) lost.push_back(link);
    }
  }
  return lost;
}

}  // namespace sabath
