// How idle the processor cores of this process are. Free function; any thread. Throws nothing but std::bad_alloc.
#pragma once

#include <filesystem>
#include <optional>

namespace sabath {

// Seconds that a core of these was idle, on average, since the machine started; only differences of two calls mean
// something. nullopt: the kernel does not say. `proc` is the system's, or a test's.
[[nodiscard]] std::optional<double> idle_seconds(const std::filesystem::path& proc = "/proc");

}  // namespace sabath
