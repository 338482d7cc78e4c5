#include "store/disk/owners.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "sabath/error.h"
#include "store/disk/layout.h"
#include "store/disk/listing.h"

namespace sabath {

std::optional<Fd> try_open_trusted(const Owners& owners, const std::filesystem::path& file) {
  try {
    auto fd = try_open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat s {};
    if (!fd || ::fstat(fd->get(), &s) != 0 || !S_ISREG(s.st_mode) || !owners.trusts(s)) return std::nullopt;
    return fd;
  } catch (const Error&) {  // another user's, or a symlink
    return std::nullopt;
  }
}

bool belongs_to(const std::filesystem::path& tree, uid_t user) {
  const auto s = try_lstat(tree);
  if (!s || s->st_uid != user) return false;
  if (S_ISLNK(s->st_mode)) return true;
  if ((s->st_mode & (S_IWGRP | S_IWOTH)) != 0) return false;
  if (!S_ISDIR(s->st_mode)) return S_ISREG(s->st_mode);
  return std::ranges::all_of(list_directory(tree), [&](const auto& entry) { return belongs_to(entry, user); });
}

std::vector<std::filesystem::path> believed_rooms(const std::filesystem::path& own, const Owners& owners) {
  std::vector<std::filesystem::path> rooms{own};
  if (own.extension() != fmt::format(".{}", ::geteuid())) return rooms;
  auto room = own;
  room.replace_extension();
  if (is_real_directory(room)) rooms.push_back(room);
  for (const uid_t owner : owners.trusted()) {
    room.replace_extension(fmt::format(".{}", owner));
    if (owner != ::geteuid() && is_room_of(room, owner)) rooms.push_back(room);
  }
  return rooms;
}

}  // namespace sabath
