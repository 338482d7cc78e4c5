// The program as the companion of a library (base/companion.h): it does one task, in a process that has one thread and
// no host. This is the only room below src/front/cli where a process may fork, and where HDF5 is called.
#pragma once

#include <optional>
#include <span>

namespace sabath::companion {

// For main, before it does anything else: nullopt unless the first argument is `--as`; else the exit code.
[[nodiscard]] std::optional<int> try_act(std::span<char* const> arguments) noexcept;

}  // namespace sabath::companion
