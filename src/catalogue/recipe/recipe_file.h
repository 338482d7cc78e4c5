// The text of a recipe's file. Any thread. Throws Error{not_found}, Error{invalid}, and Error{usage} for what is no
// recipe but data, with the way to take it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sabath {

[[nodiscard]] std::string read_recipe_file(const std::filesystem::path& file);
// Of a name that a user registered: one of the owners must have the file.
[[nodiscard]] std::string read_registered(const std::filesystem::path& file, const std::vector<std::uint32_t>& owners);

// How data of this machine come into the store: a directory, or a file.
[[nodiscard]] std::string hint_for_data(const std::filesystem::path& data);

}  // namespace sabath
