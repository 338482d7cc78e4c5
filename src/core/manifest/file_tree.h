// The Merkle tree of one file: 64 KiB leaves, 4 MiB chunks, 64 children a node. Format: docs/manifest.md.
// Pure functions and plain values; no input or output. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

class ChecksumSet;

struct FileTree {
  Digest digest;               // kind file
  std::vector<Sha256> chunks;  // one for each chunk; empty for an empty file
};

// Hash of one chunk, 0 < bytes.size() <= chunk_size_bytes: the plain SHA-256 if it is one leaf, else the
// level-1 node over its leaves.
[[nodiscard]] Sha256 hash_chunk(std::span<const std::byte> bytes);

// hash_chunk(bytes) and sums.update(bytes): see StreamSha256::takes_pieces_along().
[[nodiscard]] Sha256 hash_chunk(std::span<const std::byte> bytes, ChecksumSet& sums);

// The file's digest from its chunk layer; chunks.size() == chunk_count(size_bytes).
[[nodiscard]] Digest digest_of_chunks(std::uint64_t size_bytes, std::span<const Sha256> chunks);

// The tree of a file of at most one chunk, all in memory.
[[nodiscard]] FileTree hash_content(std::span<const std::byte> content);

// The digests of several such files: hashes their whole leaves side by side, and the rests of neighbours of one size.
[[nodiscard]] std::vector<Digest> hash_contents(std::span<const std::span<const std::byte>> contents);

// The tree of a file of at most one chunk that has this digest.
[[nodiscard]] FileTree one_chunk_tree(const Digest& digest);

// Feeds a file in order, in pieces of any size; holds at most one chunk of bytes.
class FileHasher {
 public:
  FileHasher();
  void update(std::span<const std::byte> bytes);
  [[nodiscard]] FileTree finish();  // once
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  std::vector<std::byte> buffer_;
  std::vector<Sha256> chunks_;
  std::uint64_t size_bytes_ = 0;
};

// The first `size_bytes` of an open file, by pread; `name` is for messages. Throws Error{storage}, Error{changed} if it
// is shorter.
[[nodiscard]] FileTree hash_file(int fd, std::uint64_t size_bytes, const std::filesystem::path& name = "a file");

}  // namespace sabath
