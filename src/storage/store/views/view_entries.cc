#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "sabath/error.h"
#include "store/disk/clone.h"
#include "store/disk/durable.h"
#include "store/views/view.h"

namespace sabath {
namespace {

constexpr std::size_t mended_max = 4096;  // for one sync

std::optional<struct stat> stat_at(int directory, const std::string& name) {
  struct stat s {};
  if (::fstatat(directory, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0) return s;
  return std::nullopt;
}

// nullopt if it is no symlink.
std::optional<std::string> target_at(int directory, const char* name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t n = ::readlinkat(directory, name, target.data(), target.size());
  if (n < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(n));
}

bool same_but_ctime(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

bool is_executable(const Entry& entry) { return entry.type == EntryType::executable; }

}  // namespace

ViewEntries::Place ViewEntries::place(const Entry& entry) {
  const auto directory = at_.try_at(entry.path.parent());
  if (!directory) throw_errno("enter the directory of", path_of(entry), ENOTDIR);
  return {*directory, std::string(entry.path.name())};
}

bool ViewEntries::right(const Entry& entry) {
  const auto directory = at_.try_at(entry.path.parent());
  if (!directory) return false;
  const std::string name(entry.path.name());
  const auto s = stat_at(*directory, name);
  if (!s) return false;
  switch (entry.type) {
    case EntryType::directory:
      return S_ISDIR(s->st_mode) && (outside_ || !store_.layout.of_several_users() ||
                                     (s->st_uid == ::geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0));
    case EntryType::symlink:
      return S_ISLNK(s->st_mode) && target_at(*directory, name.c_str()) == entry.target;
    case EntryType::file:
    case EntryType::executable:
      break;
  }
  const auto object = store_.layout.object(entry.digest);
  if (files_ == TreeFiles::copies) {  // what is the user's is neither a link to an object nor the object
    const auto there = try_lstat(object);
    if (S_ISLNK(s->st_mode) || (there && there->st_ino == s->st_ino && there->st_dev == s->st_dev)) return false;
  }
  if (S_ISLNK(s->st_mode)) {  // an adopted file is seen through its object's own target
    if (is_executable(entry) || !store_.owners.trusts(*s)) return false;
    const auto target = target_at(*directory, name.c_str());
    const auto there = try_lstat(object);
    const bool adopted = there && S_ISLNK(there->st_mode) && store_.owners.trusts(*there) &&
                         target == target_at(AT_FDCWD, object.c_str());
    if (adopted) return store_.present(entry.digest);
    return target && target == target_of(entry) && store_.present(entry.digest);
  }
  if (!S_ISREG(s->st_mode) || ((s->st_mode & S_IXUSR) != 0) != is_executable(entry)) return false;
  if (!store_.owners.trusts(*s)) return false;  // its owner may write to it at any time
  return store_.evidence.matches(entry.digest, *s) || holds(store_.evidence, path_of(entry), entry.digest);
}

void ViewEntries::make(const Entry& entry) { make_at(place(entry), entry); }

void ViewEntries::make_at(const Place& place, const Entry& entry) {
  int result = 0;
  switch (entry.type) {
    case EntryType::directory:
      result = ::mkdirat(place.directory, place.name.c_str(), 0777);
      if (result == 0 && files_ == TreeFiles::shared && store_.layout.members().group()) {
        result = ::fchmodat(place.directory, place.name.c_str(), 0755, 0);
      }
      break;
    case EntryType::symlink:
      result = ::symlinkat(entry.target.c_str(), place.directory, place.name.c_str());
      break;
    case EntryType::file:
    case EntryType::executable:
      return make_file(place, entry);
  }
  if (result != 0) throw_errno("make", path_of(entry), errno);
}

// A collection may take the object away between two looks; looking for it brings it back.
void ViewEntries::make_file(const Place& place, const Entry& entry) {
  constexpr int attempts = 5;
  for (int attempt = 1;; ++attempt) {
    try {
      return make_file_once(place, entry);
    } catch (const Error& error) {
      if (attempt == attempts || error.failure().kind != FailureKind::storage) throw;
      if (!store_.present(entry.digest)) throw;
      ::unlinkat(place.directory, place.name.c_str(), 0);
    }
  }
}

void ViewEntries::make_file_once(const Place& place, const Entry& entry) {
  const auto object = store_.layout.object(entry.digest);
  const bool own = is_executable(entry) || files_ == TreeFiles::copies;
  const auto there = try_lstat(object);
  const bool trusted = there && store_.owners.trusts(*there);
  const bool is_link = there && S_ISLNK(there->st_mode);
  const auto adopted = own || !trusted || !is_link ? std::nullopt : target_at(AT_FDCWD, object.c_str());
  if (adopted) return link_to(place, entry, *adopted);
  if (!there && !store_.packs.none_seen() && store_.packs.find(entry.digest)) return copy_packed(place, entry);
  const auto target = !own && trusted && files_ == TreeFiles::symlinks ? target_of(entry) : std::nullopt;
  if (target) return link_to(place, entry, *target);
  // A link shares its object's mode, so an executable is never a link. Clones come first: no user can write through a
  // clone into the store. An owner who is not trusted could write to his object after it was linked.
  if (own || !trusted || clones(object)) return copy(place, entry, object, trusted);
  if (try_link(place, entry, object, *there)) return;
  // Another user's object: systems let no user hard-link a file that he may not write.
  const auto shown = there->st_uid == ::geteuid() ? std::nullopt : target_of(entry);
  if (!shown || ::symlinkat(shown->c_str(), place.directory, place.name.c_str()) != 0) copy(place, entry, object, true);
}

std::optional<std::filesystem::path> ViewEntries::target_of(const Entry& entry) {
  const Layout& layout = store_.layout;
  if (!layout.of_several_users()) {
    const auto object = layout.object(entry.digest);
    const auto there = try_lstat(object);
    return there && store_.owners.trusts(*there) ? std::optional(object) : std::nullopt;
  }
  if (files_ != TreeFiles::shared) {
    auto own = layout.view(root_) / entry.path.text();
    return holds(store_.evidence, own, entry.digest) ? std::optional(std::move(own)) : std::nullopt;
  }
  if (!others_) others_.emplace(store_, root_);
  return others_->find(entry);
}

bool ViewEntries::clones(const std::filesystem::path& object) {
  if (!outside_) return store_.reflinks();
  if (clones_) return *clones_;
  const auto probe = at_.root() / fmt::format(".sabath-{:x}", store_.writer.nonce);
  const Fd from = open_file(object, O_RDONLY), to = open_file(probe, O_RDWR | O_CREAT | O_EXCL);
  clones_ = try_clone(from.get(), to.get(), probe);
  ::unlink(probe.c_str());
  return *clones_;
}

void ViewEntries::link_to(const Place& place, const Entry& entry, const std::filesystem::path& target) {
  if (::symlinkat(target.c_str(), place.directory, place.name.c_str()) != 0) throw_errno("make", path_of(entry), errno);
}

bool ViewEntries::try_link(const Place& place, const Entry& entry, const std::filesystem::path& object,
                           const struct stat& before) {
  const bool known = store_.evidence.matches(entry.digest, before);
  if (::linkat(AT_FDCWD, object.c_str(), place.directory, place.name.c_str(), 0) != 0) {
    if (has_no_such_link(errno)) return false;
    throw_errno("link", path_of(entry), errno);
  }
  // The link changed the ctime and nothing else did: the earlier evidence still holds.
  const auto after = stat_at(place.directory, place.name);
  if (known && after && same_but_ctime(before, *after)) store_.evidence.add(entry.digest, *after);
  return true;
}

Fd ViewEntries::create(const Place& place, const Entry& entry) {
  if (!group_) group_ = std::make_shared<SyncGroup>(at_.root());
  const mode_t mode = is_executable(entry) ? 0777 : 0666;
  Fd to(::openat(place.directory, place.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!to) throw_errno("create", path_of(entry), errno);
  return to;
}

void ViewEntries::settle(Fd file, const Entry& entry) {
  const auto path = path_of(entry);
  if (files_ == TreeFiles::shared) store_.layout.members().seal(file.get(), path);
  if (!group_->whole()) sync_file(file.get(), path);
  struct stat s {};
  if (::fstat(file.get(), &s) != 0) throw_errno("stat", path, errno);
  close_file(std::move(file), path);
  if (files_ == TreeFiles::shared) store_.evidence.add(entry.digest, s);
}

void ViewEntries::copy(const Place& place, const Entry& entry, const std::filesystem::path& object, bool trusted) {
  const auto path = path_of(entry);
  const Fd from = open_file(object, O_RDONLY);
  store_.layout.members().heed(from.get());
  Fd to = create(place, entry);
  const bool cloned = clones(object) && try_clone(from.get(), to.get(), path);
  const bool right = cloned ? trusted || hash_file(to.get(), entry.digest.size_bytes, path).digest == entry.digest
                            : copy_hashed(from.get(), object, to.get(), path).digest == entry.digest;
  if (!right) {
    store_.objects.quarantine(object);
    throw Error(FailureKind::content, fmt::format("{} does not hold what its name says", object.native()),
                "it was put into quarantine: fetch again");
  }
  settle(std::move(to), entry);
}

void ViewEntries::copy_packed(const Place& place, const Entry& entry) {
  const auto bytes = store_.packs.read(entry.digest);
  if (!bytes) throw_errno("copy", path_of(entry), ENOENT);
  if (!is_content(*bytes, entry.digest)) {
    store_.packs.distrust(entry.digest);
    static_cast<void>(store_.packs.present(entry.digest));  // keeps the rest of the pack
    throw Error(FailureKind::content, fmt::format("the pack of {} does not hold it", printable(entry.path.text())),
                "it was put into quarantine: fetch again");
  }
  Fd to = create(place, entry);
  write_all(to.get(), *bytes, path_of(entry));
  settle(std::move(to), entry);
}

// Others read this view: nothing gets its name in it before its bytes are on the disk.
void ViewEntries::mend(const Entry& entry) {
  const Place where = place(entry);
  const auto there = stat_at(where.directory, where.name);
  const bool directory = entry.type == EntryType::directory;
  if (there && (directory || S_ISDIR(there->st_mode))) remove_tree(path_of(entry));  // not to be replaced in one step
  if (directory) return make_at(where, entry);
  const auto temporary = new_temporary();
  make_at({AT_FDCWD, temporary.native()}, entry);
  mended_.push_back({entry.path, entry.digest, temporary});
  if (mended_.size() == mended_max) put_in_place();
}

// In tmp/, where leftovers are removed; beside the view's entries where that is another filesystem.
std::filesystem::path ViewEntries::new_temporary() {
  const auto name = store_.temporaries.new_name();
  const auto ours = try_lstat(name.parent_path()), view = try_lstat(at_.root());
  if (ours && view && ours->st_dev == view->st_dev) return name;
  auto beside = at_.root() / fmt::format(".sabath-{:x}-{}", store_.writer.nonce, mended_.size());
  ::unlink(beside.c_str());  // of a view that could not be finished
  return beside;
}

void ViewEntries::put_in_place() {
  if (group_ && group_->whole()) group_->sync();
  for (const auto& [path, digest, temporary] : mended_) {
    const auto directory = at_.try_at(path.parent());
    const std::string name(path.name());
    const auto before = try_lstat(temporary);
    const bool known = before && S_ISREG(before->st_mode) && store_.evidence.matches(digest, *before);
    if (!directory || ::renameat(AT_FDCWD, temporary.c_str(), *directory, name.c_str()) != 0) {
      throw_errno("replace", at_.root() / path.text(), directory ? errno : ENOTDIR);
    }
    ::unlink(temporary.c_str());  // rename(2) leaves it if both were one file
    const auto after = stat_at(*directory, name);
    if (known && after && same_but_ctime(*before, *after)) store_.evidence.add(digest, *after);
  }
  mended_.clear();
}

bool ViewEntries::remove_file(const Entry& entry) {
  if (!entry.is_file()) return false;
  const auto object = store_.layout.object(entry.digest);
  const auto directory = at_.try_at(entry.path.parent());
  const auto before = try_lstat(object);
  const bool known = before && store_.evidence.matches(entry.digest, *before);
  if (!directory || ::unlinkat(*directory, std::string(entry.path.name()).c_str(), 0) != 0) return false;
  const auto after = try_lstat(object);
  if (known && after && same_but_ctime(*before, *after)) store_.evidence.add(entry.digest, *after);
  return true;
}

bool ViewEntries::complete(const Entry& entry) {
  if (right(entry)) return entry.is_file();
  const bool stood = remove_file(entry);  // an executable is a file of its own, and no object
  make(entry);
  return stood;
}

void ViewEntries::finish() {
  put_in_place();
  store_.evidence.flush();
}

}  // namespace sabath
