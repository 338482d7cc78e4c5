// The modules that another run loaded, found again among this machine's: each with exactly its version. Pure; any
// thread. Throws Error{invalid}.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sabath/verbs/site.h"
#include "software/solve.h"

namespace sabath {

inline constexpr std::size_t locked_modules_max = 256;

// "compiler/gcc/12.3" is gcc==12.3, and a module without a version is any of its name. `origin`: where the modules were
// written, for messages.
[[nodiscard]] std::vector<SoftwareNeed> needs_of_lock(std::span<const std::string> modules, const std::string& origin);

// What has a module, and no other build: where both name their toolchain ("4.1.4-GCC-11.3.0"), it is the same one.
// `picks` are rows of `table`.
[[nodiscard]] SoftwareSolution solve_lock(std::span<const Software> table, std::span<const SoftwareNeed> needs);

}  // namespace sabath
