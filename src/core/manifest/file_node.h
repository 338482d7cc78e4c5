// The inner nodes of a file's tree: their bytes, and the shape that a file's length gives them. Format:
// docs/manifest.md. Level 1 is a chunk (children: leaves); a manifest keeps the levels from 2 on (children of level 2:
// chunks). Pure functions; any thread. Parsing throws Error{invalid}.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

inline constexpr std::size_t file_node_children_max = 64;
inline constexpr std::uint64_t file_size_max = std::uint64_t{1} << 48;  // bytes

// Bytes that a full node of this level covers: 4 MiB at level 1, 64 times more at each next one.
[[nodiscard]] constexpr std::uint64_t file_node_span(unsigned level) { return chunk_size_bytes << (6 * (level - 1)); }

// The level of the topmost node: the first that covers the whole file; 1 for at most one chunk.
[[nodiscard]] constexpr unsigned file_top_level(std::uint64_t size_bytes) {
  unsigned level = 1;
  while (file_node_span(level) < size_bytes) ++level;
  return level;
}

[[nodiscard]] std::string encode_file_node(unsigned level, std::uint64_t size_bytes, std::span<const Sha256> children);

// Children of a node of this level over `size_bytes` bytes; throws if `bytes` is no such node.
[[nodiscard]] std::vector<Sha256> parse_file_node(std::string_view bytes, unsigned level, std::uint64_t size_bytes);

// The file's hash from its chunk layer. `visit` gets every node of level 2 and above, children before parents,
// left to right. Throws Error{invalid} unless chunks.size() == chunk_count(size_bytes) and size_bytes <= file_size_max.
Sha256 build_file_nodes(std::uint64_t size_bytes, std::span<const Sha256> chunks,
                        const std::function<void(const Sha256&, std::string_view)>& visit);

}  // namespace sabath
