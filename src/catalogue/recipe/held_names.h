// Names under which content came into a store, noted with the root for when the recipe is not at hand: a recipe that
// pins it, ROOM/FOLDER/NAME.json. docs/store.md, "Registered names". Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sabath/recipe.h"

namespace sabath {

class HeldNames {
 public:
  HeldNames(std::vector<std::filesystem::path> rooms, std::vector<std::uint32_t> owners)
      : rooms_(std::move(rooms)), owners_(std::move(owners)) {}

  // A note that cannot be read, or that another user wrote, is passed over.
  [[nodiscard]] std::optional<Recipe> try_find(const std::string& name, const std::optional<std::string>& version,
                                               std::optional<AssetKind> kind) const;
  [[nodiscard]] std::vector<Recipe> all(std::optional<AssetKind> kind) const;
  [[nodiscard]] bool has(const Recipe& recipe) const;  // it was read from one of the rooms

 private:
  [[nodiscard]] std::optional<Recipe> try_read(const std::filesystem::path& file, AssetKind kind) const;

  std::vector<std::filesystem::path> rooms_;
  std::vector<std::uint32_t> owners_;  // user ids
};

}  // namespace sabath
