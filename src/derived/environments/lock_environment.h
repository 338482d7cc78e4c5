// From files that name packages to one lock of an environment, for one target. One thread. Throws Error{usage},
// Error{not_found}, Error{invalid}, Error{content}, Error{command}, Error{offline}, Error{interrupted}.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "environments/choose.h"
#include "environments/lock_order.h"
#include "sabath/environment.h"
#include "software/programs.h"

namespace sabath {

struct LockedEnvironment {
  std::vector<ChosenPackage> packages;  // in the order of their names
  WheelTarget target;
  bool has_python = false, has_conda = false;
  std::string resolver;  // the program that resolved; empty: all was locked
  std::vector<std::string> remarks;
  std::string text;  // of the lock: conda-lock.yml if there are packages of conda, else pylock.toml
};

[[nodiscard]] LockedEnvironment lock_environment(Programs& programs, const LockOrder& order);

}  // namespace sabath
