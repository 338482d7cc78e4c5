#include "manifest/tree_writer.h"

#include <utility>

namespace sabath {

TreeWriter::TreeWriter(NodeFileWriter& pack) : pack_(pack), open_(1) {}

void TreeWriter::add(const TreeItem& item) {
  OpenNode& page = open_[0];
  if (page.count++ == 0) page.key = item.name;
  put_tree_item(page.bytes, item);
  add_totals(page.totals, totals_of(item));
  if (ends_tree_node(0, page.count, item.name)) close(0);
}

// Writes the open node of a level and starts another; its parent takes it as a child, and may end by that.
void TreeWriter::close(unsigned level) {
  if (open_.size() == level + 1) open_.emplace_back();
  const Sha256 hash = write(level);
  const OpenNode child = std::exchange(open_[level], {});
  OpenNode& parent = open_[level + 1];
  if (parent.count++ == 0) parent.key = child.key;
  put_tree_child(parent.bytes, {child.key, child.totals, hash});
  add_totals(parent.totals, child.totals);
  parent.newest = hash;
  if (ends_tree_node(level + 1, parent.count, child.key)) close(level + 1);
}

Sha256 TreeWriter::write(unsigned level) {
  std::string node;
  node.reserve(16 + open_[level].bytes.size());
  put_tree_tag(node, level);
  node += open_[level].bytes;
  return pack_.put(node);
}

TreeWriter::Result TreeWriter::finish() {
  unsigned level = 0;
  for (; level + 1 < open_.size(); ++level) {
    if (open_[level].count > 0) close(level);
  }
  // The topmost level was never closed, so it holds everything. A lone child is the top itself.
  const OpenNode& top = open_[level];
  const bool lone = level > 0 && top.count == 1;
  return {lone ? top.newest : write(level), top.totals};
}

}  // namespace sabath
