#include "store/clones.h"

#include <unistd.h>

#include "store/disk/owners.h"
#include "store/state.h"
#include "store/store.h"

namespace sabath {

bool has_own_clone(Store& store, const Sha256& source_key) {
  const Layout& layout = store.state().layout;
  const std::filesystem::path clone = layout.git(source_key);
  if (layout.of_several_users()) return belongs_to(clone, ::geteuid());
  const auto there = try_lstat(clone);
  return there && S_ISDIR(there->st_mode) && there->st_uid == ::geteuid();
}

void close_to_members(Store& store, const std::filesystem::path& tree) {
  store.state().layout.members().give_tree(tree);
}

}  // namespace sabath
