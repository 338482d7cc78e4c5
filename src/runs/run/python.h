// The Python of a run: finds an interpreter that has what the recipe needs, and lists what is installed in it. Starts
// interpreters. One thread. Throws Error{command}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "run/environment.h"
#include "sabath/recipe.h"

namespace sabath {

struct Python {
  std::string program, version;                 // empty: there is none
  std::map<std::string, std::string> packages;  // name -> version
  std::vector<std::string> missing;             // requirements that it does not meet, as the recipe has them
};

// The first of `candidates` that meets all requirements, else the one that lacks least.
[[nodiscard]] Python choose_python(const std::vector<std::string>& candidates, const Requirements& requirements,
                                   const VariableMap& environment, const std::stop_token& stop);

// A virtual environment in `directory` with what the recipe needs, made by `base` and pip unless it stands there whole.
// Returns its interpreter.
[[nodiscard]] std::string make_python(const std::filesystem::path& directory, const std::string& base,
                                      const Requirements& requirements, const VariableMap& environment,
                                      const std::stop_token& stop);

}  // namespace sabath
