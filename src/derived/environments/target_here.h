// The target that the user names, or this machine: its Python is asked, its C library is the one that this program runs
// with. One thread. Throws Error{usage}, Error{command}.
#pragma once

#include "environments/lock_order.h"
#include "software/programs.h"

namespace sabath {

// `wants_python`: without, no interpreter is asked.
[[nodiscard]] WheelTarget target_of(Programs& programs, const LockOrder& order, bool wants_python);

}  // namespace sabath
