// The checks of a recipe: which are built in, and what each may be compared with. Pure; any thread. Throws
// Error{invalid} with file, line and key.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "sabath/recipe.h"

namespace sabath {

struct BuiltinCheckName {
  enum class Bound { none, count, size, version };
  std::string_view name;
  Bound bound = Bound::none;
};
[[nodiscard]] std::span<const BuiltinCheckName> builtin_check_names();

// Key "checks" of a recipe's requirements: "memory>=64GB", or {"name", "argv", "expect", "parallel", "seconds"}.
[[nodiscard]] std::vector<RecipeCheck> take_checks(JsonObject& requirements);

// Those of the recipe's own, as steps.
[[nodiscard]] std::vector<Step> steps_of_checks(const Requirements& requirements);

}  // namespace sabath
