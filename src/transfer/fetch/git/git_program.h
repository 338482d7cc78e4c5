// Runs the git program so that nothing of a repository is executed, and turns its words into a Failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "fetch/hosts/context.h"
#include "sabath/recipe.h"

namespace sabath {

// `git ARGUMENTS`: without hooks, filters, any configuration, questions to a user, and silent connections.
[[nodiscard]] Command git_command(std::vector<std::string> arguments);

// The origin, with those who named it; nullopt: it is a directory.
[[nodiscard]] std::optional<Url> url_of(const GitSource& git);

// Returns what it printed. With `network` it is one request to the origin of `git`, judged and counted there. Throws
// Error of the kind that git's words mean, and Error{unavailable} for a host that may not be asked.
std::string run_git(FetchContext& context, const GitSource& git, Command command, bool network);

}  // namespace sabath
