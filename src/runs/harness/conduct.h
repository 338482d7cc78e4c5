// One run from its directory to its closed record. One thread. Throws Error if no record can be made; a later failure
// is in the record and the exit code.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "harness/assets.h"
#include "harness/consent.h"
#include "harness/environment.h"
#include "harness/resolved_run.h"
#include "harness/run_checks.h"
#include "run/execution.h"

namespace sabath {

struct Conducted {
  int exit = 0;
  RunRecord record;
  std::filesystem::path directory;
};

// The commands of one variant, as they are launched in this directory.
[[nodiscard]] std::vector<RunStep> steps_of(const RunCall& call, const ResolvedRun& run, const Variant& variant,
                                            const RunAssets& assets, const RunEnvironment& environment,
                                            const std::filesystem::path& directory);

// The same of the recipe's own checks, in their order. Throws Error{invalid} for a pattern that is none.
[[nodiscard]] std::vector<RunStep> check_steps_of(const ResolvedRun& run, const Variant& variant,
                                                  const RunAssets& assets, const RunEnvironment& environment,
                                                  const std::filesystem::path& directory);

// The variables that a run adds to the environment of its programs.
[[nodiscard]] VariableMap own_variables(const RunEnvironment& environment, const std::vector<RunStep>& steps,
                                        const std::filesystem::path& directory);

[[nodiscard]] Conducted conduct(const RunCall& call, const ResolvedRun& run, const Variant& variant,
                                const RunAssets& assets, const RunEnvironment& environment,
                                const std::filesystem::path& directory, const Consent& consent, ChecksMade& checked);

}  // namespace sabath
