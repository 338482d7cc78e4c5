// Recipes that came with a subscribed catalogue, told by where they lie. Any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/reach.h"

namespace sabath {

// The mark of a subscribed catalogue, in DIR/catalogues/LAB.
inline constexpr std::string_view subscription_file = "subscription.json";
// The directory of the subscribed catalogue to which a recipe belongs: what it says, others say. Empty: to none.
[[nodiscard]] std::filesystem::path subscription_of(const std::filesystem::path& recipe);
[[nodiscard]] inline bool is_subscribed(const std::filesystem::path& recipe) {
  return !subscription_of(recipe).empty();
}
// How near the farthest host was that it came from; by its URL where an earlier SABATH did not note that.
[[nodiscard]] Reach reach_of_subscription(const std::filesystem::path& directory);

}  // namespace sabath
