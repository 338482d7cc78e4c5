// Writes one directory's nodes to a pack as its entries come, in the byte order of their names; holds one open node a
// level. One owner. Throws Error{invalid} when totals pass what the format allows.
#pragma once

#include <string>
#include <vector>

#include "manifest/node_file.h"
#include "manifest/tree_node.h"

namespace sabath {

class TreeWriter {
 public:
  explicit TreeWriter(NodeFileWriter& pack);
  void add(const TreeItem& item);  // names strictly ascend; a directory's own nodes are written already

  struct Result {
    Sha256 hash;
    Totals totals;
  };
  [[nodiscard]] Result finish();  // once: the top node

 private:
  struct OpenNode {
    std::string bytes;  // without the tag
    std::string key;    // of its first item
    std::size_t count = 0;
    Totals totals;
    Sha256 newest;  // level 1 and up: the child that came last
  };
  void close(unsigned level);
  Sha256 write(unsigned level);

  NodeFileWriter& pack_;
  std::vector<OpenNode> open_;
};

}  // namespace sabath
