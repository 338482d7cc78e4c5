// What a prefix of conda and packages of conda have in common when they become a tree for one place. One thread.
// Throws Error{invalid} by the file's and the package's name, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

// A file that names the place of its prefix.
struct NamingFile {
  std::string path, package;  // below the prefix; "numpy 2.1.0"
  std::size_t room = 0;       // of a binary file: bytes that it has for a place
  bool is_binary = false;
  std::vector<std::string> old;  // what stands in it: the first that does
};

struct PlaceNaming {
  std::string place;  // empty: none was named
  std::vector<NamingFile> files;
};

// Before anything is copied: a place is named if a file needs it, and fits into each. `name`: of the asset.
void check_room(const PlaceNaming& naming, const std::string& name);
// How often the file named the old place. `whole_names`: as PlaceSwap has it.
[[nodiscard]] std::uint64_t put_place_into(const std::filesystem::path& file, const NamingFile& naming,
                                           const std::string& place, bool whole_names);

// METADATA, PKG-INFO or the .egg-info of a Python package.
[[nodiscard]] bool is_note_of_python(const std::string& path);
// Of these notes below `top`: the names and versions that they state.
[[nodiscard]] std::set<std::pair<std::string, std::string>> names_of(const std::filesystem::path& top,
                                                                     const std::set<std::string>& notes);
// direct_url.json beside these notes says where a package was built, which means nothing to its users.
void drop_origins(const std::filesystem::path& top, const std::set<std::string>& notes, const std::string& library);
// Scripts that conda's activate would run; nullopt: there are none.
[[nodiscard]] std::optional<std::string> remark_of_activation(const std::filesystem::path& top);

}  // namespace sabath
