// The whole check of a manifest: it passes exactly the bytes that a builder would write for the same entries.
#include <fmt/format.h>

#include <algorithm>

#include "manifest/annotations.h"
#include "manifest/file_node.h"
#include "manifest/nodes.h"
#include "manifest/tree_reader.h"
#include "manifest/wire.h"

namespace sabath {
namespace {

// Nodes stand in the order in which a depth-first walk leaves them for the first time, without gaps.
class NodeOrder {
 public:
  explicit NodeOrder(const NodeFile& pack) : pack_(pack), seen_(pack.node_count()), expected_(pack.nodes_begin()) {}

  void leave(const Sha256& hash) {
    const NodeFile::Place place = pack_.find(hash);
    if (seen_[place.index]) return;
    if (place.offset != expected_) wire::refuse(fmt::format("node {} is not in its place", hash.hex()));
    seen_[place.index] = true;
    ++seen_count_;
    expected_ += place.length;
  }

  [[nodiscard]] bool seen(const Sha256& hash) const { return seen_[pack_.find(hash).index]; }

  void finish() const {
    if (seen_count_ != pack_.node_count()) wire::refuse("it holds nodes that nothing refers to");
    if (expected_ != pack_.nodes_end()) wire::refuse("it holds bytes that are no node");
  }

 private:
  const NodeFile& pack_;
  std::vector<bool> seen_;
  std::uint64_t expected_;
  std::uint64_t seen_count_ = 0;
};

void check_file_node(const NodeFile& pack, const Sha256& hash, unsigned level, std::uint64_t size_bytes,
                     NodeOrder& order) {
  const std::vector<Sha256> children = parse_file_node(pack.read(hash), level, size_bytes);
  if (order.seen(hash)) return;  // shared: the nodes below are already checked
  const std::uint64_t span = file_node_span(level - 1);
  for (std::size_t i = 0; level > 2 && i < children.size(); ++i) {
    check_file_node(pack, children[i], level - 1, std::min(span, size_bytes - i * span), order);
  }
  order.leave(hash);
}

}  // namespace

void Manifest::check() const {
  const NodeFile& pack = nodes_->pack;
  pack.check_table();
  const std::string annotations = pack.annotations();
  std::vector<std::string_view> annotated;
  const std::string_view note =
      parse_annotations(annotations, [&](std::string_view path, const Checksums&) { annotated.push_back(path); });
  if (!note.empty()) check_note(note);
  auto next = annotated.begin();  // the walk meets the files in the same order
  NodeOrder order(pack);
  const TreeVisitor visitor{[&](const Entry& entry, const TreeItem&) {
                              if (!entry.is_file()) return;
                              if (next != annotated.end() && *next == entry.path.text()) ++next;
                              const Digest& file = entry.digest;
                              if (file.size_bytes <= chunk_size_bytes) return;  // its digest is its only chunk
                              check_file_node(pack, file.hash, file_top_level(file.size_bytes), file.size_bytes, order);
                            },
                            [&](const Sha256& hash) { order.leave(hash); }};
  walk_tree(pack, root_ref(pack), {}, visitor);
  order.finish();
  if (next != annotated.end()) wire::refuse("an annotation names a file that is not there");
}

}  // namespace sabath
