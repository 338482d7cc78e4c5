// The index of an exported catalogue, index.json: what it offers, and the SHA-256 of each file. docs/catalogues.md has
// the format. Pure; any thread. Throws Error{invalid}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/digest.h"
#include "sabath/path.h"

namespace sabath {

struct CatalogueFile {
  RelativePath path;  // "datasets/x.json", or code beside a recipe
  std::uint64_t size_bytes = 0;
  Sha256 sha256;
};

struct CatalogueAsset {
  std::string kind, name, version, title, id, licence;
  std::string recipe, document;  // paths below the index
};

struct CatalogueIndexFile {
  std::vector<CatalogueAsset> assets;
  std::vector<CatalogueFile> files;       // recipes and their code
  std::vector<CatalogueFile> tombstones;  // "removed/x.json"
};

inline constexpr std::size_t catalogue_files_max = 20'000;
inline constexpr std::uint64_t catalogue_bytes_max = 256 << 20;

[[nodiscard]] std::string text_of_index(const CatalogueIndexFile& index);
// What a subscription needs of it: the files, the tombstones last. Refuses paths outside the folders of recipes, too
// many, too large ones.
[[nodiscard]] std::vector<CatalogueFile> parse_index(std::string_view text, const std::string& origin);

}  // namespace sabath
