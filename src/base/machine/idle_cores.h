// How idle the processor cores are that this process may use. Free function; any thread. Throws nothing but
// std::bad_alloc.
#pragma once

#include <filesystem>
#include <optional>

namespace sabath {

// Seconds that each of them had nothing to do, on average, since the machine started; it is the difference of two that
// says something. nullopt: the kernel does not say. `proc` is the system's, or a test's.
[[nodiscard]] std::optional<double> idle_seconds(const std::filesystem::path& proc = "/proc");

}  // namespace sabath
