// From locks to what one target gets: markers evaluated, of each package's wheels the best one taken. Pure; any thread.
// Throws Error{not_found} where no wheel fits, Error{invalid} for a lock that contradicts itself.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "environments/lock.h"
#include "environments/wheel_target.h"

namespace sabath {

struct ChosenPackage {
  PackageManager manager = PackageManager::python;
  std::string name, version, place;
  LockedFile file;
  std::string platform;  // of conda
  std::vector<std::pair<std::string, std::string>> dependencies;
  std::string category;
};

// In the order of their names. All that cannot be had is named at once, the first 20 packages.
[[nodiscard]] std::vector<ChosenPackage> choose_packages(std::span<const EnvironmentLock> locks,
                                                         const WheelTarget& target);

}  // namespace sabath
