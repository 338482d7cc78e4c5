// The environment of a run's programs: the caller's, the changes of the site's modules, the recipe's variables, and the
// places of the run. Pure but for load_modules(), which asks a shell. Throws Error{command}, Error{not_found}.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "machine/site.h"
#include "sabath/recipe.h"

namespace sabath {

using VariableMap = std::map<std::string, std::string>;

// $NAME and ${NAME} stand for what `environment` has, as in the original's recipes; nothing else is expanded.
[[nodiscard]] std::string expand_variables(const std::string& text, const VariableMap& environment);

// The recipe's variables over `environment`; one that expands to nothing but names others is left out.
void add_recipe_variables(VariableMap& environment, const std::map<std::string, std::string>& variables);

// `environment` after the site's module command has loaded the modules.
[[nodiscard]] VariableMap load_modules(const Site& site, const std::vector<std::string>& modules,
                                       const VariableMap& environment, const std::stop_token& stop);

[[nodiscard]] std::string variable_of(const VariableMap& environment, const std::string& name);  // "": it is not set
[[nodiscard]] std::vector<std::string> lines(const VariableMap& environment);                    // "NAME=value"

}  // namespace sabath
