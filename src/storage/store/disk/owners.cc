#include "store/disk/owners.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>

#include <array>
#include <charconv>

#include "sabath/error.h"
#include "sabath/path.h"
#include "store/disk/layout.h"
#include "store/disk/listing.h"

namespace sabath {
namespace {

std::string user_name(uid_t user) {
  std::array<char, 16384> room{};
  struct passwd entry {};
  struct passwd* found = nullptr;
  const bool known = ::getpwuid_r(user, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known ? printable(found->pw_name) : fmt::format("{}", user);
}

}  // namespace

std::optional<unsigned> other_of(const std::filesystem::path& room) {
  const std::string owner = room.extension();
  unsigned user = 0;
  const auto [end, error] = std::from_chars(owner.data() + (owner.empty() ? 0 : 1), owner.data() + owner.size(), user);
  return owner.empty() || error != std::errc() || user == ::geteuid() ? std::nullopt : std::optional(user);
}

bool may_remove_from(const std::filesystem::path& room) {
  return (!other_of(room) || ::geteuid() == 0) && ::access(room.c_str(), W_OK) == 0;
}

std::string users_text(const std::set<unsigned>& users) {
  constexpr std::size_t named_max = 3;
  std::string text = users.size() > 1 ? "users" : "user";
  std::size_t named = 0;
  for (const unsigned user : users) {
    const bool last = ++named == users.size();
    if (named > named_max) return text + fmt::format(" and {} more", users.size() - named_max);
    text += fmt::format("{}{}", named == 1 ? " " : last ? " and " : ", ", user_name(user));
  }
  return text;
}

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
