#include "software/owners.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/ownership.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// The file or directory `place` itself, by the mode and the owner that it has.
std::optional<std::string> why_not_place(const fs::path& place, bool is_above,
                                         const std::vector<std::uint32_t>& users) {
  const auto status = try_stat(place);
  if (!status) return "it is gone";
  auto why = why_not_own(*status, ::geteuid(), std::nullopt, is_above);
  if (!why || std::ranges::find(users, status->st_uid) == users.end()) return why;
  return why_not_own(*status, status->st_uid, std::nullopt, is_above);
}

}  // namespace

std::optional<std::string> TrustedOwners::why_not(const fs::path& file) const try {
  std::error_code unknown;
  fs::path place = fs::canonical(file, unknown);
  if (unknown) return "there is no such file";
  for (bool is_above = false;; is_above = true) {
    if (const auto why = why_not_place(place, is_above, users_)) {
      return is_above ? fmt::format("its directory {}: {}", printable(place.native(), 1000), *why) : *why;
    }
    if (place == place.root_path()) break;
    place = place.parent_path();
  }
  // Symlinks on the way may be another user's.
  if (const std::uint32_t user = other_writer(file, users_); user != 0)
    return fmt::format("{} decides what is at this path",
                       user == any_user ? "another user" : fmt::format("uid {}", user));
  return std::nullopt;
} catch (const Error& error) {
  return error.failure().message;
}

// A symlink is judged as any path is.
std::optional<std::string> TrustedOwners::why_not_itself(const fs::path& file) const try {
  const auto status = try_lstat(file);
  if (!status) return "it is gone";
  return S_ISLNK(status->st_mode) ? why_not(file) : why_not_place(file, false, users_);
} catch (const Error& error) {
  return error.failure().message;
}

}  // namespace sabath
