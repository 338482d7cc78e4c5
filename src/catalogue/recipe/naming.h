// Who named what a recipe asks for: noted in its URLs, which are judged by that (base/reach.h). Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sabath/recipe.h"

namespace sabath {

// Of all its fragments, manifests and repositories.
void name_sources(Recipe& recipe, const Namer& namer);

// A part whose sources all are of this machine (a file, localhost): no other machine gets it.
struct LocalPart {
  std::string fragment;  // its id; empty: the source tree
  std::string url;       // as text for people
};
[[nodiscard]] std::optional<LocalPart> part_of_this_machine(const Recipe& recipe);

// "public", "site", "machine": a host of the internet, of this site, this very machine.
[[nodiscard]] std::string_view reach_name(Reach reach);
[[nodiscard]] std::optional<Reach> try_parse_reach(std::string_view name);

}  // namespace sabath
