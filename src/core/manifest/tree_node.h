// The nodes of directories: pages of entries (level 0), and index nodes over them (level 1 and up) with totals.
// Format and the rule that ends a node: docs/manifest.md. Pure; any thread. Parsing throws Error{invalid}.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.h"

namespace sabath {

inline constexpr std::size_t tree_node_items_max = 1024;
inline constexpr unsigned tree_level_max = 31;  // an index node but the last has two children or more
inline constexpr std::size_t name_size_max = 255, target_size_max = 4095;
inline constexpr std::uint64_t entries_max = std::uint64_t{1} << 28;  // below one directory, itself not counted
inline constexpr std::uint64_t total_bytes_max = ~std::uint64_t{0} >> 1;

// One entry of a page. Texts view the bytes that it was parsed from.
struct TreeItem {
  std::string_view name;
  EntryType type = EntryType::file;
  Digest digest;            // file, executable, directory
  Totals below;             // directory: its content, itself not counted
  std::string_view target;  // symlink
};

// One child of an index node.
struct TreeChild {
  std::string_view key;  // the first name below it
  Totals totals;         // of all entries below it
  Sha256 hash;
};

struct TreeNode {
  std::unique_ptr<const std::string> bytes;
  unsigned level = 0;
  std::vector<TreeItem> items;      // level 0
  std::vector<TreeChild> children;  // other levels
  Totals totals;
  [[nodiscard]] std::size_t count() const { return level == 0 ? items.size() : children.size(); }
  [[nodiscard]] std::string_view key(std::size_t i) const { return level == 0 ? items[i].name : children[i].key; }
};

// The totals that an entry adds to those of its directory.
[[nodiscard]] Totals totals_of(const TreeItem& item);
// Throws when the sum passes what the format allows.
void add_totals(Totals& sum, const Totals& more);

// True when a node of `level` that holds `count` items, the last with this key, must end there.
[[nodiscard]] bool ends_tree_node(unsigned level, std::size_t count, std::string_view key);

// Byte order of names, one directory after another: the order of a depth-first walk. '/' sorts before every other byte.
[[nodiscard]] bool tree_order_less(std::string_view a, std::string_view b);

void put_tree_tag(std::string& out, unsigned level);
void put_tree_item(std::string& out, const TreeItem& item);
void put_tree_child(std::string& out, const TreeChild& child);

// Checks all that the node alone can show.
[[nodiscard]] TreeNode parse_tree_node(std::string bytes);

}  // namespace sabath
