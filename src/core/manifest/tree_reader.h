// Reads directories out of a pack, with the checks that need more than one node: a child must be as its parent says.
// Every reader of a manifest goes through here. Any thread; throws Error{invalid}, Error{storage}.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/node_file.h"
#include "manifest/tree_node.h"

namespace sabath {

// A node, and the facts known of it before it is read.
struct TreeRef {
  Sha256 hash;
  std::optional<Totals> totals;   // absent: the root
  std::optional<unsigned> level;  // absent: the top node of a directory
  std::string key;                // its first name; empty: not known
  std::string bound;              // its names are below this; empty: no bound
  bool last = true;               // nothing of the directory follows
};

[[nodiscard]] TreeRef root_ref(const NodeFile& pack);
[[nodiscard]] TreeRef directory_ref(const TreeItem& directory);
[[nodiscard]] TreeRef child_ref(const TreeRef& parent, const TreeNode& node, std::size_t index);
[[nodiscard]] TreeNode load_tree_node(const NodeFile& pack, const TreeRef& ref);

// An entry with its path; `directory` is "" at the root. Checks the path and a symlink's target.
[[nodiscard]] Entry make_entry(std::string_view directory, const TreeItem& item);

struct TreeVisitor {
  std::function<void(const Entry&, const TreeItem&)> entry;  // a directory before its entries
  std::function<void(const Sha256&)> node_done;              // after everything below it; may be empty
};
void walk_tree(const NodeFile& pack, const TreeRef& ref, std::string_view directory, const TreeVisitor& visitor);

// The chunk layer of a file of more than one chunk.
[[nodiscard]] std::vector<Sha256> read_chunk_layer(const NodeFile& pack, const Digest& file);

}  // namespace sabath
