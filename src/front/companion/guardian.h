// The guardian of a program: the process that stands between it and a run, and outlives neither. It allocates nothing
// once it stands, so that no lack of memory keeps it from ending what it guards.
#pragma once

#include <string_view>

namespace sabath::companion {

// Starts the program that `request` names (run/guarded_process.h), reports its end over `channel`, obeys the requests
// from there, and returns when no process of the program is left.
[[nodiscard]] int stand_guard(int channel, std::string_view request);

}  // namespace sabath::companion
