// The environment of a run's programs: modules, the recipe's variables, a Python that has what the recipe needs.
// One thread. Throws Error{command}, Error{not_found}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/resolved_run.h"
#include "run/environment.h"
#include "run/python.h"
#include "run/run_asset.h"

namespace sabath {

struct RunEnvironment {
  VariableMap variables;             // all of it
  std::vector<std::string> modules;  // that were loaded; dry run: that would be
  Python python;
  std::optional<RunAsset> packed;  // in which the programs are started
  std::string container_digest;    // of the image, if it is a file
};

// `trusted`: what the recipe says may be started. Without it no Python is asked what it has, because the recipe's
// variables may lead it to code of their own.
// `packed`: the environment of the run, brought; a dry run's may be absent. Throws Error{command} if it cannot run
// here.
[[nodiscard]] RunEnvironment prepare_environment(const RunCall& call, const ResolvedRun& run, bool trusted,
                                                 const std::optional<RunAsset>& packed);
// For run.json: the variables that differ from the caller's, and the installed packages.
[[nodiscard]] nlohmann::ordered_json to_json(const RunEnvironment& environment, const Environment& caller,
                                             const ResolvedRun& run);

}  // namespace sabath
