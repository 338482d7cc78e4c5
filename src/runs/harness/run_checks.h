// What the recipe of a run asks of the machine, before anything is launched: docs/checks.md. `run` and `doctor` do it
// by these functions. One thread. Throws Error{interrupted}, and Error{invalid} for a pattern that is none.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "checks/check.h"
#include "harness/environment.h"
#include "harness/resolved_run.h"
#include "run/execution.h"

namespace sabath {

// What was found, and of which commands: the runs of a sweep that would ask the same do not ask again.
struct ChecksMade {
  std::vector<std::vector<std::string>> argv;
  std::vector<CheckResult> results;
  bool done = false;
};

// The asset without which this command cannot be launched, as a forecast of a run has it; empty: all is here.
[[nodiscard]] std::string not_fetched_in(const std::vector<std::string>& argv);

// All of them, also after one that is not met; a line of each goes to the events. `own`: check_steps_of().
// `variables`: those of the programs; `work`: where they run.
void run_checks(const RunCall& call, const ResolvedRun& run, const RunEnvironment& environment,
                const VariableMap& variables, const std::filesystem::path& work, const std::vector<RunStep>& own,
                ChecksMade& checked);
// Where they are not wanted: each as not asked.
[[nodiscard]] std::vector<CheckResult> unasked_checks(const Requirements& requirements);

[[nodiscard]] std::vector<std::string> unmet(const std::vector<CheckResult>& results);  // "memory>=64GB", ...
// Error{command}: the machine is not what the run needs, as with packages that are missing. All met: returns.
void refuse_unmet(const ResolvedRun& run, const std::vector<CheckResult>& results, const std::filesystem::path& record);

[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<CheckResult>& results);

}  // namespace sabath
