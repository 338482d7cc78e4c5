#include "base/ownership.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/kept_for_others.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t entry_bytes_max = 1 << 20;  // of the system's lists of users and groups
constexpr uid_t unmapped_user = 65534;            // in a container, root of its host is that as well
constexpr unsigned links_max = 40;                // as the kernel's

// Many systems give each user a group of that name without other members; group permissions then give nothing away.
bool is_private_group(gid_t group) {
  if (group != ::getegid()) return false;
  std::vector<char> user_text(16384), group_text(16384);
  passwd user{};
  passwd* found_user = nullptr;
  if (::getpwuid_r(::geteuid(), &user, user_text.data(), user_text.size(), &found_user) != 0) return false;
  if (found_user == nullptr || user.pw_gid != group) return false;
  struct group entry {};
  struct group* found = nullptr;
  int error = 0;
  while ((error = ::getgrgid_r(group, &entry, group_text.data(), group_text.size(), &found)) == ERANGE &&
         group_text.size() < entry_bytes_max) {
    group_text.resize(2 * group_text.size());
  }
  if (error != 0 || found == nullptr || std::string_view(entry.gr_name) != user.pw_name) return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member) {
    if (std::string_view(*member) != user.pw_name) return false;
  }
  return true;
}

// In a sticky directory (/tmp) others cannot rename or remove what is not theirs.
bool others_may_write(const struct stat& status, bool is_above) {
  if (is_above && S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0) return false;
  if ((status.st_mode & S_IWOTH) != 0) return true;
  return (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0 && !is_private_group(status.st_gid);
}

bool came_with_program(const fs::path& file, const fs::path& shipped, const fs::path& program) {
  std::error_code unknown;
  if (shipped.empty() || !is_below(file, fs::canonical(shipped, unknown)) || unknown) return false;
  const auto status = try_stat(file);
  const auto of_program = program.empty() ? std::nullopt : try_stat(program);
  return status && (status->st_mode & S_IWOTH) == 0 &&
         (status->st_uid == ::geteuid() || status->st_uid == 0 || (of_program && of_program->st_uid == status->st_uid));
}

std::uint32_t other_user(const struct stat& status, std::span<const std::uint32_t> trusted, bool is_above) {
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if (!S_ISLNK(status.st_mode) && (status.st_mode & S_IWOTH) != 0 && !sticky) return any_user;
  const bool own = status.st_uid == ::geteuid() || status.st_uid == 0 || (is_above && status.st_uid == unmapped_user);
  return own || std::ranges::find(trusted, status.st_uid) != trusted.end() ? 0 : status.st_uid;
}

}  // namespace

std::optional<std::string> why_not_own(const struct stat& status, unsigned user,
                                       const std::optional<struct stat>& program, bool is_above) {
  if (status.st_uid != user && status.st_uid != 0 && (!program || status.st_uid != program->st_uid))
    return fmt::format("owned by uid {}, and not by root or you", status.st_uid);
  const bool as_program = program && program->st_gid == status.st_gid && (program->st_mode & S_IWGRP) != 0 &&
                          (status.st_mode & S_IWOTH) == 0;
  if (others_may_write(status, is_above) && !as_program)
    return fmt::format("others may write it (mode {:o})", status.st_mode & 07777U);
  return std::nullopt;
}

std::optional<std::string> why_not_own(const fs::path& file, const fs::path& program) {
  std::error_code unknown;
  fs::path place = fs::canonical(file, unknown);  // no symlink is left in it: each directory above is one that counts
  if (unknown) return "there is no such file";
  if (auto why = why_kept_for_others(place)) return why;
  const fs::path beside = program.empty() ? fs::path() : fs::canonical(program, unknown);
  const auto of_program = beside.empty() ? std::nullopt : try_stat(beside);
  for (bool is_above = false;; is_above = true) {
    if (is_above && of_program && is_below(beside, place)) return std::nullopt;
    const auto status = try_stat(place);
    const auto why = status ? why_not_own(*status, ::geteuid(), of_program, is_above) : "it is gone";
    if (why) return is_above ? fmt::format("its directory {}: {}", printable(place.native(), 1000), *why) : *why;
    if (place == place.root_path()) return std::nullopt;
    place = place.parent_path();
  }
}

std::uint32_t other_writer(const fs::path& file, std::span<const std::uint32_t> trusted) {
  std::optional<Namer> writer = Namer{.user = 0};
  std::error_code unknown;
  const fs::path whole = fs::absolute(file, unknown);
  std::deque<fs::path> ahead(whole.begin(), whole.end());
  fs::path place;
  for (unsigned links = 0; !ahead.empty() && !unknown;) {
    const fs::path name = ahead.front();
    ahead.pop_front();
    const fs::path next = name == ".." ? place.parent_path() : place / name;
    const auto status = try_lstat(next);
    if (!status) return any_user;
    const bool link = S_ISLNK(status->st_mode);
    add_namer(writer, Namer{.user = other_user(*status, trusted, link || !ahead.empty())});
    if (!link) {
      place = next;
      continue;
    }
    if (++links > links_max) return any_user;
    const fs::path target = fs::read_symlink(next, unknown);
    ahead.insert(ahead.begin(), target.begin(), target.end());
  }
  return unknown ? any_user : writer->user.value_or(any_user);
}

Ownership ownership_of(const fs::path& file, const fs::path& shipped, const fs::path& program) {
  std::error_code unknown;
  const fs::path place = fs::canonical(file, unknown);
  if (unknown) return Ownership::others;
  if (came_with_program(place, shipped, program)) return Ownership::shipped;
  return why_not_own(place) ? Ownership::others : Ownership::own;
}

}  // namespace sabath
