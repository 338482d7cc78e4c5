// The packed environment of a run: docs/environments.md. One thread. Throws Error{usage}, Error{not_found},
// Error{offline} for what is chosen, Error{command} where this machine cannot run it, Error{invalid} for a note that is
// none.
#pragma once

#include <optional>
#include <string>

#include "harness/resolved_run.h"
#include "run/run_asset.h"

namespace sabath {

class Catalogue;

// `requirements` may be the name of a packed environment: then that is `packed`, and the default of `requirements`.
[[nodiscard]] RunRequest settled_request(RunRequest request);

// The recipe of the model names one without its root: the root is added, so that what is trusted has it.
void settle_root_of_environment(const Catalogue& catalogue, const RunCall& call, ResolvedRun& run);
// That of the request, of the lock, or of the recipe; nullopt: none of them names one, or they are to be ignored.
[[nodiscard]] std::optional<Recipe> choose_packed(const Catalogue& catalogue, const RunCall& call,
                                                  const ResolvedRun& run);
// True if no recipe has the environment any more: the run knows its root alone.
[[nodiscard]] bool is_root_alone(const Recipe& environment);

// Before anything is launched: the files in `asset` are an environment, and this machine can run it.
void check_packed(const RunCall& call, const RunAsset& asset, const std::string& library_path);

}  // namespace sabath
