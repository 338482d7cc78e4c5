// Wheels of the store unpacked into one tree, side by side; each file is claimed before it is written. One thread, with
// threads of its own. Throws Error{invalid} with the names of all packages that are refused, Error{storage},
// Error{space}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "fetch/hosts/space_guard.h"
#include "store/store.h"
#include "wheels/place_claims.h"
#include "wheels/wheel_archive.h"

namespace sabath {

struct WheelToUnpack {
  Digest content;
  WheelOrder order;                      // its `file` is found here
  std::string label = {};                // out: "flute 1.2"
  std::vector<std::string> places = {};  // out: its files below the tree
};

void unpack_wheels(Store& store, SpaceGuard& space, const std::filesystem::path& top,
                   std::vector<WheelToUnpack>& wheels, PlaceClaims& claims, const std::stop_token& stop);

}  // namespace sabath
