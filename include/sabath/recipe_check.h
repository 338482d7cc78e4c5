// What a recipe asks of the machine before its steps are launched: requirements.checks, docs/checks.md. Plain values.
#pragma once

#include <string>
#include <vector>

namespace sabath {

struct RecipeCheck {
  std::string name;               // of a built-in, or what the recipe calls its own
  std::string relation, bound;    // of a built-in: ">=", "64GB"; both are empty: it has none
  std::vector<std::string> argv;  // with placeholders, as a step's; empty: it is a built-in
  std::string expect;             // a text, or an RE2 expression, of a line that it prints; empty: its status decides
  bool parallel = false;          // started by the launcher, once for each rank
  unsigned seconds = 10;          // it is ended after them
  [[nodiscard]] std::string text() const { return name + relation + bound; }
};

}  // namespace sabath
