// What installers noted beside packages: RECORD, direct_url.json, .pth. What names a place is taken out or refused by
// name; RECORD says what is in the tree in the end. One thread. Throws Error{invalid}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct FoundPackage {
  std::string name, version;
  std::string build{}, channel{}, sha256{};  // of a package of conda
  std::uint64_t size_bytes = 0;              // of its file; 0: unknown
};

struct PackagesOrder {
  std::filesystem::path top;                  // of the tree that is packed
  std::string below;                          // "lib/python3.11/site-packages"
  std::vector<std::filesystem::path> places;  // where the tree was: absolute lines of .pth may name these
  std::set<std::string> accepted;             // .pth files with code that a user vouches for
};

struct MendedPackages {
  std::vector<FoundPackage> packages;  // in the order of their names
  std::vector<std::string> remarks;
};

// Of METADATA and PKG-INFO: headers, until the first empty line. What is not stated is empty.
[[nodiscard]] FoundPackage package_in(std::string_view metadata);
// The value of the first header of this name ("Requires-Python"); empty: there is none.
[[nodiscard]] std::string header_in(std::string_view metadata, std::string_view name);
// Before anything else is mended: editable packages and .pth files that cannot be moved are refused.
[[nodiscard]] MendedPackages mend_packages(const PackagesOrder& order);
// After all: rows of files that were changed or removed. `changed`: paths below `top`.
void mend_installed_records(const PackagesOrder& order, const std::set<std::string>& changed);

}  // namespace sabath
