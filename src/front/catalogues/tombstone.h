// What remains of a removed recipe, so that a user who meets its name or id later learns what it was:
// DIR/removed/*.json beside the recipes. A collection of the store does not touch it. Format: docs/catalogues.md. One
// thread. Throws Error{storage}, Error{space}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/verbs/catalogue.h"

namespace sabath {

[[nodiscard]] std::string text_of_tombstone(const Tombstone& stone);
// nullopt: it is none. `file`: for `Tombstone::file`.
[[nodiscard]] std::optional<Tombstone> try_parse_tombstone(std::string_view text, const std::filesystem::path& file);

// Into DIR/removed, under a name that is free. Durable when it returns.
std::filesystem::path put_tombstone(const std::filesystem::path& directory, const Tombstone& stone);
// Of these directories of recipes, the newest first; at most 10,000. Files that are none are passed over.
// Where recipes of these stand: `directories`, and the catalogues in trees of the original's layout, `roots`.
[[nodiscard]] std::vector<std::filesystem::path> tombstone_places(const std::vector<std::filesystem::path>& roots,
                                                                  std::vector<std::filesystem::path> directories);
[[nodiscard]] std::vector<Tombstone> tombstones_in(const std::vector<std::filesystem::path>& directories);
// By name, "name@version", id or DOI; the newest first. Where our own have none, those of the catalogues that are
// subscribed in `directories`, which are called LAB/NAME.
[[nodiscard]] std::vector<Tombstone> tombstones_of(const std::vector<std::filesystem::path>& directories,
                                                   const std::string& name);

}  // namespace sabath
