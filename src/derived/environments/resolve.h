// What is not locked yet is resolved by the user's own programs, without running code of any package: uv builds
// nothing, pip gets no dependency by itself, conda only plans. Programs that another account could exchange are not
// started. What a file says reaches them only as requirements that were parsed here. One thread. Throws Error{command}
// with what the program said, Error{invalid} for what no such resolution may take, Error{interrupted}.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "environments/environment_file.h"
#include "environments/lock.h"
#include "environments/requirements_file.h"
#include "environments/wheel_target.h"
#include "software/programs.h"

namespace sabath {

struct PythonQuestion {
  std::vector<RequirementLine> lines;  // whose markers hold
  std::vector<IndexOption> indexes;    // the first that is not extra is the default; none: the user's configuration
  bool with_dependencies = true;       // false: all are pinned and have digests
};

// Requirements and constraints of a target; all or none have digests. Throws Error{invalid}.
[[nodiscard]] PythonQuestion question_of(const RequirementsFile& file, const WheelTarget& target);

[[nodiscard]] EnvironmentLock resolve_by_uv(Programs& programs, const PythonQuestion& question,
                                            const WheelTarget& target, const std::filesystem::path& scratch);
// In rounds: pip names the newest wheel of each requirement, its metadata the next requirements, until nothing changes.
[[nodiscard]] EnvironmentLock resolve_by_pip(Programs& programs, const PythonQuestion& question,
                                             const WheelTarget& target, const std::filesystem::path& scratch);
// Of a lock that an index gave: only the files that have one of the stated digests stay. Throws Error{content}.
void keep_stated_digests(EnvironmentLock& lock, std::span<const RequirementLine> lines);

[[nodiscard]] EnvironmentLock resolve_by_conda(Programs& programs, const std::string& program,
                                               const CondaEnvironment& environment, const WheelTarget& target,
                                               const std::filesystem::path& scratch);

// Variables of pip, uv, conda and mamba, and of proxies, that name URLs: without them another index would be asked.
[[nodiscard]] std::map<std::string, std::string> index_variables(const Environment& environment);

// The Error of a program that gave no answer: its whole complaint on one line.
[[noreturn]] void throw_no_answer(const std::string& program, const ProgramAnswer& answer, const std::string& hint);

}  // namespace sabath
