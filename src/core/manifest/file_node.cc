#include "manifest/file_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::string_view node_tag = "SABATH-node-v1";

}  // namespace

std::string encode_file_node(unsigned level, std::uint64_t size_bytes, std::span<const Sha256> children) {
  std::string bytes;
  bytes.reserve(wire::tag_size + 8 + Sha256::size * children.size());
  wire::put_tag(bytes, node_tag, static_cast<std::uint8_t>(level));
  wire::put<std::uint64_t>(bytes, size_bytes);
  for (const Sha256& child : children) wire::put_hash(bytes, child);
  return bytes;
}

std::vector<Sha256> parse_file_node(std::string_view bytes, unsigned level, std::uint64_t size_bytes) {
  wire::Reader in(bytes);
  const std::uint64_t child_span = file_node_span(level - 1);
  const std::uint64_t count = size_bytes / child_span + (size_bytes % child_span != 0 ? 1 : 0);
  if (in.tag(node_tag) != level) wire::refuse(fmt::format("a file node is not of level {}", level));
  if (in.get<std::uint64_t>() != size_bytes)
    wire::refuse("a file node covers another number of bytes than its parent says");
  if (count > file_node_children_max || in.left() != count * Sha256::size) {
    wire::refuse(fmt::format("a file node over {} bytes has not {} children", size_bytes, count));
  }
  std::vector<Sha256> children(count);
  for (Sha256& child : children) child = in.hash();
  return children;
}

Sha256 build_file_nodes(std::uint64_t size_bytes, std::span<const Sha256> chunks,
                        const std::function<void(const Sha256&, std::string_view)>& visit) {
  if (size_bytes > file_size_max)
    wire::refuse(fmt::format("a file of {} bytes is longer than the format allows", size_bytes));
  if (chunks.size() != chunk_count(size_bytes)) {
    wire::refuse(
        fmt::format("a file of {} bytes has {} chunks, not {}", size_bytes, chunk_count(size_bytes), chunks.size()));
  }
  if (chunks.empty()) return sha256(std::string_view());
  const unsigned top = file_top_level(size_bytes);
  if (top == 1) return chunks[0];
  // One open node a level; a full one is closed into the level above, so children come before their parents.
  std::vector<std::vector<Sha256>> open(top + 1);
  std::uint64_t covered = 0;
  Sha256 last;
  const auto close = [&](unsigned level) {
    const std::uint64_t end = std::min(covered, size_bytes);
    const std::uint64_t begin = (end - 1) / file_node_span(level) * file_node_span(level);
    const std::string node = encode_file_node(level, end - begin, open[level]);
    open[level].clear();
    last = sha256(node);
    visit(last, node);
    if (level < top) open[level + 1].push_back(last);
  };
  for (const Sha256& chunk : chunks) {
    open[2].push_back(chunk);
    covered += chunk_size_bytes;
    for (unsigned level = 2; level <= top && open[level].size() == file_node_children_max; ++level) close(level);
  }
  for (unsigned level = 2; level <= top; ++level) {
    if (!open[level].empty()) close(level);
  }
  return last;
}

}  // namespace sabath
