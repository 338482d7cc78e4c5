// The git program, called so that nothing of a repository is executed, and what its words mean as a Failure.
#pragma once

#include <string>
#include <vector>

#include "base/process.h"
#include "fetch/hosts/context.h"
#include "sabath/recipe.h"

namespace sabath {

// `git ARGUMENTS`: without hooks, filters, anybody's configuration, questions, and connections that say nothing.
[[nodiscard]] Command git_command(std::vector<std::string> arguments);

// What it printed. With `network` it is one request to the origin of `git`, counted there. Throws Error of the kind
// that git's words mean.
std::string run_git(FetchContext& context, const GitSource& git, Command command, bool network);

}  // namespace sabath
