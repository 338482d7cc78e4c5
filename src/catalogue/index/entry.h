// What the index keeps of one recipe file, and its form in the index's file. Plain values over bytes that their user
// holds; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/recipe.h"

namespace sabath {

// A file that has these values still is what was read. All zero: it must be read again.
struct RecipeStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  friend bool operator==(const RecipeStamp&, const RecipeStamp&) = default;
};

struct IndexEntry {
  RecipeStamp stamp;
  AssetKind kind = AssetKind::dataset;
  AccessKind access = AccessKind::open;
  std::optional<std::uint64_t> size_bytes;  // of all fragments, when each says
  std::string_view file, name, version, title;
  std::string_view text;        // what is searched: lines
  std::string_view lower;       // the same in lower case
  std::string_view attributes;  // what is asked for by key: lines "key=value", lower case
};

void append_entry(std::string& bytes, const IndexEntry& entry);
// The entry of a recipe as bytes: decode_entry() reads them.
[[nodiscard]] std::string encode_entry(const Recipe& recipe, const std::string& file, const RecipeStamp& stamp);
// Takes one entry off the front; nullopt: these bytes are none. The entry refers to `bytes`.
[[nodiscard]] std::optional<IndexEntry> decode_entry(std::string_view& bytes);

}  // namespace sabath
