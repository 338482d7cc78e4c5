#include "manifest/tree_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "manifest/file_node.h"
#include "manifest/wire.h"

namespace sabath {
namespace {

constexpr std::string_view tree_tag = "SABATH-tree-v1";

constexpr char kind_letter(EntryType type) {
  switch (type) {
    case EntryType::file:
      return 'f';
    case EntryType::executable:
      return 'x';
    case EntryType::directory:
      return 'd';
    case EntryType::symlink:
      return 'l';
  }
  return 0;
}

EntryType parse_kind(std::uint8_t letter) {
  for (const EntryType type : {EntryType::file, EntryType::executable, EntryType::directory, EntryType::symlink}) {
    if (letter == static_cast<std::uint8_t>(kind_letter(type))) return type;
  }
  wire::refuse(fmt::format("an entry has the unknown kind {}", letter));
}

void put_totals(std::string& out, const Totals& totals) {
  for (const std::uint64_t value : {totals.files, totals.directories, totals.symlinks, totals.bytes})
    wire::put(out, value);
}

Totals get_totals(wire::Reader& in) {
  Totals stated, checked;
  stated.files = in.get<std::uint64_t>();
  stated.directories = in.get<std::uint64_t>();
  stated.symlinks = in.get<std::uint64_t>();
  stated.bytes = in.get<std::uint64_t>();
  add_totals(checked, stated);
  return checked;
}

std::string_view get_name(wire::Reader& in) {
  const std::string_view name = in.text(name_size_max);
  if (name.empty() || name.find('/') != std::string_view::npos) wire::refuse("a name is empty or has a slash in it");
  return name;
}

TreeItem get_item(wire::Reader& in) {
  TreeItem item;
  item.type = parse_kind(in.get<std::uint8_t>());
  item.name = get_name(in);
  if (item.type == EntryType::symlink) {
    item.target = in.text(target_size_max);
    return item;
  }
  if (item.type == EntryType::directory) {
    item.below = get_totals(in);
    item.digest = {ContentKind::tree, item.below.bytes, in.hash()};
    return item;
  }
  item.digest.size_bytes = in.get<std::uint64_t>();
  item.digest.hash = in.hash();
  if (item.digest.size_bytes > file_size_max) wire::refuse("a file is longer than the format allows");
  if (item.digest.size_bytes == 0 && item.digest.hash != sha256(std::string_view())) {
    wire::refuse("an empty file has the hash of something");
  }
  return item;
}

}  // namespace

Totals totals_of(const TreeItem& item) {
  switch (item.type) {
    case EntryType::symlink:
      return {0, 0, 1, 0};
    case EntryType::directory: {
      Totals totals = item.below;
      ++totals.directories;
      return totals;
    }
    default:
      return {1, 0, 0, item.digest.size_bytes};
  }
}

void add_totals(Totals& sum, const Totals& more) {
  const auto add = [](std::uint64_t& to, std::uint64_t value, std::uint64_t max) {
    if (value > max - std::min(to, max)) wire::refuse("it counts more entries or bytes than the format allows");
    to += value;
  };
  add(sum.files, more.files, entries_max);
  add(sum.directories, more.directories, entries_max);
  add(sum.symlinks, more.symlinks, entries_max);
  add(sum.bytes, more.bytes, total_bytes_max);
  if (sum.files + sum.directories + sum.symlinks > entries_max)
    wire::refuse("it counts more entries than the format allows");
}

bool ends_tree_node(unsigned level, std::size_t count, std::string_view key) {
  if (count == tree_node_items_max) return true;
  // Two at least, so that index nodes always become fewer from level to level. A level has eight bits of its own.
  return count >= 2 && level < 8 && (xxh3_64(key) >> (8 * level) & 0xff) == 0;
}

bool tree_order_less(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) return in_b != b.end();
  const auto order = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)); };
  return order(*in_a) < order(*in_b);
}

void put_tree_tag(std::string& out, unsigned level) { wire::put_tag(out, tree_tag, static_cast<std::uint8_t>(level)); }

void put_tree_item(std::string& out, const TreeItem& item) {
  out.push_back(kind_letter(item.type));
  wire::put_text(out, item.name);
  if (item.type == EntryType::symlink) return wire::put_text(out, item.target);
  if (item.type == EntryType::directory) {
    put_totals(out, item.below);
  } else {
    wire::put(out, item.digest.size_bytes);
  }
  wire::put_hash(out, item.digest.hash);
}

void put_tree_child(std::string& out, const TreeChild& child) {
  wire::put_text(out, child.key);
  put_totals(out, child.totals);
  wire::put_hash(out, child.hash);
}

TreeNode parse_tree_node(std::string bytes) {
  TreeNode node;
  node.bytes = std::make_unique<const std::string>(std::move(bytes));
  wire::Reader in(*node.bytes);
  node.level = in.tag(tree_tag);
  if (node.level > tree_level_max) wire::refuse("a directory node has an impossible level");
  while (in.left() > 0) {
    const std::size_t count = node.count();
    if (count > 0 && ends_tree_node(node.level, count, node.key(count - 1)))
      wire::refuse("a directory node goes on after its end");
    if (node.level == 0) {
      node.items.push_back(get_item(in));
      add_totals(node.totals, totals_of(node.items.back()));
    } else {
      const std::string_view key = get_name(in);
      node.children.push_back({key, get_totals(in), in.hash()});
      add_totals(node.totals, node.children.back().totals);
    }
    if (count > 0 && node.key(count) <= node.key(count - 1))
      wire::refuse("the names of a directory are not sorted, or one appears twice");
  }
  if (node.level > 0 && node.count() == 0) wire::refuse("an index node is empty");
  return node;
}

}  // namespace sabath
