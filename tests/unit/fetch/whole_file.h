// Shared by tests of the schedule: a file of which no byte is there yet.
#pragma once

#include <cstdint>

#include "fetch/decide/schedule.h"

namespace sabath {

inline constexpr std::uint64_t chunk = 4 << 20;

inline Schedule whole_file(std::uint64_t size, bool in_order = false) {
  Schedule::Limits limits;
  limits.in_order = in_order;
  Schedule schedule(size, limits);
  schedule.add_free({0, size});
  return schedule;
}

// Another has, or will bring, all that is free.
inline void take_the_rest(Schedule& schedule) { schedule.remove_free({0, UINT64_MAX}); }

inline const Schedule::Asks whole_chunks{.last = false};  // there are other files to begin: no endgame

inline ByteRange range_of(Schedule::Place run) { return {run->position, run->end}; }

}  // namespace sabath
