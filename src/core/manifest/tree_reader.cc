#include "manifest/tree_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "manifest/file_node.h"
#include "manifest/wire.h"

namespace sabath {
namespace {

void read_file_node(const NodeFile& pack, const Sha256& hash, unsigned level, std::uint64_t size_bytes,
                    std::vector<Sha256>& chunks) {
  const std::vector<Sha256> children = parse_file_node(pack.read(hash), level, size_bytes);
  if (level == 2) {
    chunks.insert(chunks.end(), children.begin(), children.end());
  } else {
    const std::uint64_t span = file_node_span(level - 1);
    for (std::size_t i = 0; i < children.size(); ++i) {
      read_file_node(pack, children[i], level - 1, std::min(span, size_bytes - i * span), chunks);
    }
  }
}

}  // namespace

TreeRef root_ref(const NodeFile& pack) {
  TreeRef ref;
  ref.hash = pack.root();
  return ref;
}

TreeRef directory_ref(const TreeItem& directory) {
  TreeRef ref;
  ref.hash = directory.digest.hash;
  ref.totals = directory.below;
  return ref;
}

TreeRef child_ref(const TreeRef& parent, const TreeNode& node, std::size_t index) {
  const TreeChild& child = node.children[index];
  const bool last = index + 1 == node.children.size();
  return {child.hash,
          child.totals,
          node.level - 1,
          std::string(child.key),
          last ? parent.bound : std::string(node.children[index + 1].key),
          last && parent.last};
}

TreeNode load_tree_node(const NodeFile& pack, const TreeRef& ref) {
  TreeNode node = parse_tree_node(pack.read(ref.hash));
  const std::size_t count = node.count();
  const auto refuse = [&](std::string_view what) {
    wire::refuse(fmt::format("directory node {}: {}", ref.hash.hex(), what));
  };
  if (ref.totals && node.totals != *ref.totals) refuse("its totals are not those that its parent states");
  if (!ref.level && node.level > 0 && count < 2) refuse("an index over a single node is at the top");
  if (!ref.level) return node;
  if (node.level != *ref.level) refuse("it is of another level than its place");
  if (count == 0 || node.key(0) != ref.key) refuse("its first name is not the key that its parent states");
  if (!ref.bound.empty() && node.key(count - 1) >= ref.bound) refuse("its names reach into the next node");
  if (!ref.last && !ends_tree_node(node.level, count, node.key(count - 1))) refuse("it stops before its end");
  return node;
}

Entry make_entry(std::string_view directory, const TreeItem& item) {
  std::string path(directory);
  if (!path.empty()) path.push_back('/');
  path.append(item.name);
  Entry entry{RelativePath::parse(path), item.type, item.digest, item.below.files, std::string(item.target)};
  if (item.type == EntryType::symlink && !symlink_stays_inside(entry.path, entry.target)) {
    wire::refuse(fmt::format("the symlink {} leaves the asset", entry.path.text()));
  }
  return entry;
}

void walk_tree(const NodeFile& pack, const TreeRef& ref, std::string_view directory, const TreeVisitor& visitor) {
  const TreeNode node = load_tree_node(pack, ref);
  for (const TreeItem& item : node.items) {
    const Entry entry = make_entry(directory, item);  // bounds the depth: a path has at most 128 components
    visitor.entry(entry, item);
    if (item.type == EntryType::directory) walk_tree(pack, directory_ref(item), entry.path.text(), visitor);
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    walk_tree(pack, child_ref(ref, node, i), directory, visitor);
  }
  if (visitor.node_done) visitor.node_done(ref.hash);
}

std::vector<Sha256> read_chunk_layer(const NodeFile& pack, const Digest& file) {
  if (file.size_bytes > file_size_max) wire::refuse("a file is longer than the format allows");
  std::vector<Sha256> chunks;
  read_file_node(pack, file.hash, file_top_level(file.size_bytes), file.size_bytes, chunks);
  return chunks;
}

}  // namespace sabath
