// Environment markers (PEP 508, and those of lock files, PEP 751): `python_version < "3.9" and sys_platform ==
// "linux"`. Evaluated by the target's values, not by this machine's. At most 8 KiB, 32 parentheses deep. Pure; any
// thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "environments/wheel_target.h"

namespace sabath {

struct MarkerValues {
  const WheelTarget* target = nullptr;
  std::string extra;             // of the requirement that leads here; empty: none
  std::set<std::string> extras;  // of a lock file: those that are asked for, and its groups
  std::set<std::string> groups;
};

// An empty marker holds. Throws Error{invalid} where it is none; `what` names it for people: "file:12: the marker of
// x".
[[nodiscard]] bool holds(std::string_view marker, const MarkerValues& values, std::string_view what);

}  // namespace sabath
