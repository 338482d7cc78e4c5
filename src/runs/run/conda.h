// The conda environment of a run: lists what is installed in one, and makes one by micromamba, mamba or conda, which it
// starts. One thread. Throws Error{command}, Error{not_found}, Error{storage}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "run/environment.h"

namespace sabath {

// Which of the packages ("pytorch=1.7", "hdf5>=1.10") the environment at `prefix` does not have, as the recipe has
// them. A version behind = or == must be the installed one or its beginning; other relations count as met.
[[nodiscard]] std::vector<std::string> missing_conda(const std::filesystem::path& prefix,
                                                     const std::vector<std::string>& packages);

// An environment in `directory` with these packages, from the channels that the caller's conda is set to, unless it
// stands there whole.
void make_conda(const std::filesystem::path& directory, const std::vector<std::string>& packages,
                const VariableMap& environment, const std::stop_token& stop);

// As `conda activate` changes it, but for scripts that packages may want to be sourced.
void enter_conda(VariableMap& environment, const std::filesystem::path& prefix);

}  // namespace sabath
