#include "store/views/trusted_views.h"

#include <unistd.h>

#include "base/file.h"
#include "store/objects/objects.h"

namespace sabath {

namespace fs = std::filesystem;

namespace {

std::vector<uid_t> others(const Owners& owners) {
  std::vector<uid_t> all = owners.trusted();
  std::erase(all, ::geteuid());
  return all;
}

}  // namespace

TrustedViews::TrustedViews(Store::State& store, const Sha256& root) : TrustedViews(store, root, others(store.owners)) {}

TrustedViews TrustedViews::of_user(Store::State& store, const Sha256& root) { return {store, root, {::geteuid()}}; }

TrustedViews::TrustedViews(Store::State& store, const Sha256& root, const std::vector<uid_t>& owners) : store_(store) {
  if (!store.layout.of_several_users()) return;
  for (const uid_t owner : owners) {
    const Layout theirs = store.layout.of_user(owner);
    const View view{theirs.view(root), owner};
    if (is_room_of(theirs.views(), owner) && is_owners_alone(view, view.directory)) views_.push_back(view);
  }
}

bool TrustedViews::is_owners_alone(const View& view, const fs::path& directory) {
  if (known_.contains(directory)) return true;
  if (directory != view.directory && !is_owners_alone(view, directory.parent_path())) return false;
  if (!is_room_of(directory, view.owner)) return false;
  known_.insert(directory);
  return true;
}

std::optional<fs::path> TrustedViews::find(const Entry& entry) {
  for (const View& view : views_) {
    fs::path file = view.directory / entry.path.text();
    const auto s = try_lstat(file);
    if (!s || !S_ISREG(s->st_mode) || s->st_uid != view.owner || (s->st_mode & (S_IWGRP | S_IWOTH)) != 0) continue;
    if (is_owners_alone(view, file.parent_path()) && holds(store_.evidence, file, entry.digest)) return file;
  }
  return std::nullopt;
}

}  // namespace sabath
