// Why a root is believed, and by whose word. Pure; any thread.
#pragma once

#include <string>

namespace sabath::cli {

// `recipe_pins`: the recipe itself has the manifest's hash. Else a pinned root was believed because a fetch was given
// its manifest.
[[nodiscard]] inline std::string trusted_by_text(const std::string& trusted_by, bool recipe_pins) {
  if (trusted_by != "pinned") return trusted_by;
  return recipe_pins ? "pinned by the recipe" : "pinned by the manifest that a fetch was given";
}

}  // namespace sabath::cli
