// A lock, and the interpreter that its packages are for: which wheels they are, before anything is fetched. One thread.
// Throws Error{usage}, Error{not_found} where no wheel fits the interpreter, Error{invalid}, Error{command},
// Error{access}.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "environments/choose.h"
#include "environments/wheel_target.h"
#include "packing/prefix_source.h"
#include "sabath/recipe.h"
#include "software/programs.h"

namespace sabath {

// The prefix of an interpreter: of a directory that is one, or of a virtual environment made from it; of an
// interpreter's file or version ("3.11"); empty: of the python3 of PATH.
[[nodiscard]] PrefixSource interpreter_prefix(Programs& programs, const std::string& named);

// Throws for a file that is no lock of wheels, before an interpreter is looked for.
void refuse_no_lock(const std::filesystem::path& lock);

struct ChosenWheels {
  std::vector<ChosenPackage> packages;  // in the order of their names
  WheelTarget target;
};

[[nodiscard]] ChosenWheels choose_wheels(Programs& programs, const std::filesystem::path& lock,
                                         const PrefixSource& interpreter);
// What a fetch reads: a file for each wheel, by its name.
[[nodiscard]] Recipe recipe_of_wheels(const std::string& name, const std::filesystem::path& lock,
                                      const std::vector<ChosenPackage>& packages);

}  // namespace sabath
