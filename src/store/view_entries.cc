#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "sabath/error.h"
#include "store/clone.h"
#include "store/view.h"

namespace sabath {
namespace {

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
      return S_ISDIR(s->st_mode);
    case EntryType::symlink:
      return S_ISLNK(s->st_mode) && target_at(*directory, name.c_str()) == entry.target;
    case EntryType::file:
    case EntryType::executable:
      break;
  }
  if (S_ISLNK(s->st_mode)) {  // an adopted file is seen through its object's own target
    const auto object = store_.layout.object(entry.digest);
    const auto target = target_at(AT_FDCWD, object.c_str());
    return !is_executable(entry) && target && target == target_at(*directory, name.c_str()) &&
           store_.objects.present(entry.digest);
  }
  if (!S_ISREG(s->st_mode) || ((s->st_mode & S_IXUSR) != 0) != is_executable(entry)) return false;
  return store_.evidence.matches(entry.digest, *s) || holds(store_.evidence, path_of(entry), entry.digest);
}

void ViewEntries::make(const Entry& entry) { make_at(place(entry), entry); }

void ViewEntries::make_at(const Place& place, const Entry& entry) {
  int result = 0;
  switch (entry.type) {
    case EntryType::directory:
      result = ::mkdirat(place.directory, place.name.c_str(), 0777);
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
      if (!store_.objects.present(entry.digest)) throw;
      ::unlinkat(place.directory, place.name.c_str(), 0);
    }
  }
}

void ViewEntries::make_file_once(const Place& place, const Entry& entry) {
  const auto object = store_.layout.object(entry.digest);
  const auto adopted = is_executable(entry) ? std::nullopt : target_at(AT_FDCWD, object.c_str());
  if (adopted) {
    if (::symlinkat(adopted->c_str(), place.directory, place.name.c_str()) == 0) return;
    throw_errno("make", path_of(entry), errno);
  }
  // A link shares its object's mode, so what shall be executable is never one. Clones come first: nobody can write
  // through a clone into the store.
  if (is_executable(entry) || store_.reflinks() || !try_link(place, entry, object)) copy(place, entry, object);
}

bool ViewEntries::try_link(const Place& place, const Entry& entry, const std::filesystem::path& object) {
  const auto before = try_lstat(object);
  if (!before) throw_errno("link", object, ENOENT);
  const bool known = store_.evidence.matches(entry.digest, *before);
  if (::linkat(AT_FDCWD, object.c_str(), place.directory, place.name.c_str(), 0) != 0) {
    if (errno == EMLINK || errno == EXDEV || errno == EPERM || errno == EOPNOTSUPP) return false;
    throw_errno("link", path_of(entry), errno);
  }
  // The link changed the ctime and nothing else did: what was known before is still so.
  const auto after = stat_at(place.directory, place.name);
  if (known && after && same_but_ctime(*before, *after)) store_.evidence.add(entry.digest, *after);
  return true;
}

void ViewEntries::copy(const Place& place, const Entry& entry, const std::filesystem::path& object) {
  if (!group_) group_ = std::make_shared<SyncGroup>(at_.root());
  const auto path = path_of(entry);
  const Fd from = open_file(object, O_RDONLY);
  const mode_t mode = is_executable(entry) ? 0777 : 0666;
  Fd to(::openat(place.directory, place.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!to) throw_errno("create", path, errno);
  if (!store_.reflinks() || !try_clone(from.get(), to.get(), path)) {
    if (copy_hashed(from.get(), object, to.get(), path).digest != entry.digest) {
      store_.objects.quarantine(object);
      throw Error(FailureKind::content, fmt::format("{} does not hold what its name says", object.native()),
                  "it was put into quarantine: fetch again");
    }
  }
  seal_file(to.get(), path);
  if (!group_->whole()) sync_file(to.get(), path);
  struct stat s {};
  if (::fstat(to.get(), &s) != 0) throw_errno("stat", path, errno);
  close_file(std::move(to), path);
  store_.evidence.add(entry.digest, s);
}

void ViewEntries::mend(const Entry& entry) {
  const Place where = place(entry);
  const auto there = stat_at(where.directory, where.name);
  if (!there) return make_at(where, entry);
  if (entry.type == EntryType::directory || S_ISDIR(there->st_mode)) {  // cannot be replaced in one step
    remove_tree(path_of(entry));
    return make_at(where, entry);
  }
  const Place beside{where.directory, fmt::format(".sabath-{:x}", store_.writer.nonce)};
  try {
    make_at(beside, entry);
  } catch (const Error&) {
    ::unlinkat(beside.directory, beside.name.c_str(), 0);
    throw;
  }
  if (::renameat(beside.directory, beside.name.c_str(), where.directory, where.name.c_str()) != 0) {
    throw_errno("replace", path_of(entry), errno);
  }
  ::unlinkat(beside.directory, beside.name.c_str(), 0);  // rename(2) leaves it if both were one file
}

void ViewEntries::remove_file(const Entry& entry) {
  if (!entry.is_file()) return;
  const auto object = store_.layout.object(entry.digest);
  const auto directory = at_.try_at(entry.path.parent());
  const auto before = try_lstat(object);
  const bool known = before && store_.evidence.matches(entry.digest, *before);
  if (!directory || ::unlinkat(*directory, std::string(entry.path.name()).c_str(), 0) != 0) return;
  const auto after = try_lstat(object);
  if (known && after && same_but_ctime(*before, *after)) store_.evidence.add(entry.digest, *after);
}

void ViewEntries::finish() {
  if (group_ && group_->whole()) group_->sync();
  store_.evidence.flush();
}

}  // namespace sabath
