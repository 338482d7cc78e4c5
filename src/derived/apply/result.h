// What came of a step: the ranks' parts joined, the new asset's manifest, the recipe that names it. One thread. Throws
// Error{invalid} if two inputs gave one path, Error{storage}.
#pragma once

#include <string>
#include <vector>

#include "apply/work.h"
#include "sabath/recipe.h"

namespace sabath {

// From a rank to rank 0.
[[nodiscard]] std::string encode_worked(const Worked& worked);
[[nodiscard]] Worked decode_worked(const std::string& bytes);

// Puts the manifest into the store, with a note of how it came to be; its root. `under`: the input, whose other files
// stay; nullptr: outputs alone.
[[nodiscard]] Sha256 put_result(Store& store, const std::vector<Output>& outputs, const Manifest* under,
                                const DerivationStep& derivation);

// The text of a recipe that pins the root, says how it came to be, and keeps the licence and citation of the input.
[[nodiscard]] std::string derived_recipe(const Recipe& input, const std::string& name, const Sha256& root,
                                         const DerivationStep& derivation);
// The command that makes it again.
[[nodiscard]] std::string apply_command(const DerivationStep& derivation, const std::string& in_place);

}  // namespace sabath
