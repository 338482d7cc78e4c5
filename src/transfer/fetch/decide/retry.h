// When to ask again, and which mirror: pure functions over values, tested from tables.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "sabath/error.h"

namespace sabath {

inline constexpr unsigned attempts_max = 5;  // of one mirror for one file, without a byte of progress between
inline constexpr std::chrono::milliseconds asked_pause_max = std::chrono::minutes(5);  // that is waited for

enum class Verdict {
  again,    // the same mirror may do better in a while
  give_up,  // this mirror will not have this file
  fatal,    // not the mirror's fault: stop the whole fetch
};
[[nodiscard]] Verdict verdict(FailureKind kind) noexcept;

// The server wants to be asked again, but later than is waited for: the same command does so then.
[[nodiscard]] bool asks_for_later(const Failure& failure) noexcept;

// Pause before attempt number `failures` + 1: 200 ms, tripled each time, at most 30 s, +-25 % by `jitter` in [0, 1);
// what the server asked for wins when it is longer.
[[nodiscard]] std::chrono::milliseconds pause_after(unsigned failures, std::optional<std::chrono::milliseconds> asked,
                                                    double jitter);

struct MirrorState {
  bool dead = false;
  bool ready = true;   // its pause is over
  unsigned lanes = 0;  // reading from it now
  unsigned failures = 0;
  double rate = 0;  // bytes a second of all its lanes, 0: not measured
};
// The mirror to read from next: an unmeasured one first, then the one with the most to give to one more lane.
// nullopt: none is both alive and ready.
[[nodiscard]] std::optional<std::size_t> choose_mirror(std::span<const MirrorState> mirrors) noexcept;

// True if `a` tells more than `b` about why a file cannot be fetched.
[[nodiscard]] bool tells_more(const Failure& a, const Failure& b) noexcept;

}  // namespace sabath
