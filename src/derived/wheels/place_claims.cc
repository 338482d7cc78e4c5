#include "wheels/place_claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "sabath/error.h"
#include "sabath/path.h"
#include "wheels/wheel_layout.h"

namespace sabath {
namespace {

constexpr const char* interpreter_owner = "the interpreter";

}  // namespace

void PlaceClaims::refuse_both(const std::string& place, const std::string& one, const std::string& other) {
  if (one == other)
    throw Error(FailureKind::invalid, fmt::format("{} brings {} as a file and as a folder", one, printable(place)),
                "take another version of the package, and tell its publisher");
  throw Error(FailureKind::invalid,
              fmt::format("{} and {} both bring {}", std::min(one, other), std::max(one, other), printable(place)),
              "an environment has one of them: take the other one out of the lock");
}

void PlaceClaims::claim_for_interpreter(std::span<const std::string> places) {
  const std::lock_guard lock(mutex_);
  for (const std::string& place : places) {
    keys_.emplace(place_key(place), interpreter_owner);
    owners_.emplace(place, interpreter_owner);
    for (std::size_t slash = place.find('/'); slash != std::string::npos; slash = place.find('/', slash + 1))
      folders_.emplace(place.substr(0, slash), interpreter_owner);
  }
}

void PlaceClaims::claim(const std::string& owner, std::span<const std::string> places) {
  const std::lock_guard lock(mutex_);
  for (const std::string& place : places) claim_one(owner, place);
}

void PlaceClaims::claim_one(const std::string& owner, const std::string& place) {
  const auto [there, is_new] = keys_.emplace(place_key(place), owner);
  if (!is_new) refuse_both(place, owner, there->second);
  owners_.emplace(place, owner);
  if (const auto folder = folders_.find(place); folder != folders_.end()) refuse_both(place, owner, folder->second);
  for (std::size_t slash = place.find('/'); slash != std::string::npos; slash = place.find('/', slash + 1)) {
    const std::string folder = place.substr(0, slash);
    if (const auto file = owners_.find(folder); file != owners_.end()) refuse_both(folder, owner, file->second);
    folders_.emplace(folder, owner);
  }
}

std::string PlaceClaims::owner_of(const std::string& place) const {
  const std::lock_guard lock(mutex_);
  const auto owner = owners_.find(place);
  return owner == owners_.end() || owner->second == interpreter_owner ? "" : owner->second;
}

}  // namespace sabath
