#include "fetch/space_guard.h"

#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {

namespace {
constexpr auto uncounted = std::numeric_limits<std::uint64_t>::max();
constexpr auto remedy = "free some room, or choose another place with --store DIR (SABATH_CACHE)";
}  // namespace

void SpaceGuard::reserve(std::uint64_t bytes, std::uint64_t inodes, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (bytes > space_.bytes_free) {
    throw Error(FailureKind::space,
                fmt::format("{} needs {} ({} bytes) in {}, and {} ({} bytes) are free", what, format_bytes(bytes),
                            bytes, store_, format_bytes(space_.bytes_free), space_.bytes_free),
                remedy);
  }
  if (space_.inodes_free != uncounted && inodes > space_.inodes_free) {
    throw Error(FailureKind::space,
                fmt::format("{} needs {} inodes in {}, and {} are free", what, inodes, store_, space_.inodes_free),
                remedy);
  }
  space_.bytes_free -= bytes;
  if (space_.inodes_free != uncounted) space_.inodes_free -= inodes;
}

void SpaceGuard::give_back(std::uint64_t bytes, std::uint64_t inodes) {
  const std::lock_guard lock(mutex_);
  space_.bytes_free += bytes;
  if (space_.inodes_free != uncounted) space_.inodes_free += inodes;
}

}  // namespace sabath
