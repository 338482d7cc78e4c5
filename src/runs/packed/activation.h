// How a packed environment is activated: as its own bin/activate does it. Pure; any thread.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>

namespace sabath {

// A run in an environment must not have these of the caller's.
inline constexpr std::array<const char*, 3> variables_of_other_environments{"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"};

void activate_packed(std::map<std::string, std::string>& variables, const std::filesystem::path& environment);
// For a shell: bash, zsh.
[[nodiscard]] std::string activation_line(const std::filesystem::path& environment);

}  // namespace sabath
