// The kind of an asset as it stands in requests and records.
#pragma once

#include "fields/fields.h"
#include "sabath/asset_kind.h"

namespace sabath {

template <>
struct WordsOf<AssetKind> {
  static constexpr std::string_view words = "dataset|model|workflow|library|executable|object";
  static constexpr std::string_view text(AssetKind kind) { return kind_name(kind); }
  static constexpr std::optional<AssetKind> parse(std::string_view text) { return try_parse_kind(text); }
};

}  // namespace sabath
