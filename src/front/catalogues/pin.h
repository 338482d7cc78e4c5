// The text of a recipe with what the store holds of its asset: the root, the size and the SHA-256 of each file, the
// commit of a source tree, and the day. Other bytes of the text stay as its author wrote them. One thread. Throws
// Error{offline} if the store does not hold the asset, Error{content} where the recipe contradicts it, and what reading
// content throws.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "sabath/recipe.h"
#include "sabath/session.h"

namespace sabath {

struct PinnedText {
  std::string text;
  Sha256 root;
  std::uint64_t files = 0;             // whose size and SHA-256 stand in it
  std::vector<std::string> root_only;  // fragments (archives, lists) of which the root alone says what they are
};

// Without content: a description, and nothing that could be pinned.
[[nodiscard]] bool has_content(const Recipe& recipe);

// `text`: that `recipe` was read from. `urls`: where the manifest may be had; empty: as the recipe says.
[[nodiscard]] PinnedText pinned_text(const SessionSettings& settings, const Recipe& recipe, std::string text,
                                     const std::vector<std::string>& urls, const std::stop_token& stop);

}  // namespace sabath
