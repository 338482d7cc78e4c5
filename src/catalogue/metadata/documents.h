// The formats of other tools and catalogues in which an asset's metadata can be written. Each writer is a file of its
// own; documents.cc has the table. Members stand in a fixed order, so that equal recipes give equal bytes. No context
// is ever loaded. Pure; any thread. Reference: docs/metadata.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sabath/metadata.h"

namespace sabath {

struct DescribedAsset {
  const Recipe& recipe;
  std::string root;  // of its manifest, "sha256:<hex>"; empty: not known
};

struct MetadataFormat {
  std::string_view name;                              // what a user asks for: "croissant"
  std::string_view summary;                           // for people, in a few words
  bool joins;                                         // documents of several assets may stand one after the other
  std::string (*write)(const DescribedAsset& asset);  // ends with a newline
};

[[nodiscard]] std::span<const MetadataFormat> metadata_formats();
// Throws Error{usage} for a name that no format has; Error{not_found} where the recipe does not say what the format
// demands, with the keys.
[[nodiscard]] const MetadataFormat& find_metadata_format(std::string_view name);

}  // namespace sabath
