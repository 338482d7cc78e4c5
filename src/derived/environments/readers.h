// Files that name the packages of an environment, by format. Strict: bounds on sizes and counts, duplicates refused,
// each error with file and line. Local paths, repositories and sdists stay in the lock as what they are: they are
// refused where the target needs them. Any thread. Throws Error{invalid}.
#pragma once

#include <string>
#include <string_view>

#include "environments/lock.h"
#include "environments/wheel_target.h"

namespace sabath {

enum class EnvironmentFormat { pylock, uv_lock, requirements, conda_explicit, conda_lock, environment_yml };

// By the file's name and what it begins with. Throws Error{invalid} for pyproject.toml, Pipfile.lock and others.
[[nodiscard]] EnvironmentFormat format_of_file(const std::string& name, std::string_view text);

[[nodiscard]] EnvironmentLock read_pylock(std::string_view text, const std::string& origin);
// Packages that the project needs on this target, from its own dependencies on; `target` decides at forks.
[[nodiscard]] EnvironmentLock read_uv_lock(std::string_view text, const std::string& origin, const WheelTarget& target);
[[nodiscard]] EnvironmentLock read_conda_explicit(std::string_view text, const std::string& origin);
[[nodiscard]] EnvironmentLock read_conda_lock(std::string_view text, const std::string& origin);

}  // namespace sabath
