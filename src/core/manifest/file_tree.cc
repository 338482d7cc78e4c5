#include "manifest/file_tree.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/hash.h"
#include "manifest/file_node.h"
#include "sabath/error.h"

namespace sabath {

namespace {

Sha256 chunk_of(std::uint64_t size_bytes, std::span<const Sha256> leaves) {
  return leaves.size() == 1 ? leaves[0] : sha256(encode_file_node(1, size_bytes, leaves));
}

// hash(leaves): the bytes' leaves, hashed.
template <class Hash>
Sha256 chunk_by(std::span<const std::byte> bytes, const Hash& hash) {
  std::array<Sha256, leaves_per_chunk> leaves;
  const std::size_t count = (bytes.size() + leaf_size_bytes - 1) / leaf_size_bytes;
  if (count == 0 || count > leaves.size()) throw Error(FailureKind::internal, "hash_chunk: not the length of a chunk");
  const auto used = std::span(leaves).first(count);
  hash(used);
  return chunk_of(bytes.size(), used);
}

}  // namespace

Sha256 hash_chunk(std::span<const std::byte> bytes) {
  return chunk_by(bytes, [&](std::span<Sha256> leaves) { sha256_pieces(bytes, leaf_size_bytes, leaves); });
}

Sha256 hash_chunk(std::span<const std::byte> bytes, ChecksumSet& sums) {
  return chunk_by(bytes, [&](std::span<Sha256> leaves) { sums.update(bytes, leaf_size_bytes, leaves); });
}

Digest digest_of_chunks(std::uint64_t size_bytes, std::span<const Sha256> chunks) {
  return {ContentKind::file, size_bytes, build_file_nodes(size_bytes, chunks, [](const Sha256&, std::string_view) {})};
}

FileTree one_chunk_tree(const Digest& digest) {
  return {digest, std::vector<Sha256>(digest.size_bytes > 0 ? 1 : 0, digest.hash)};
}

FileTree hash_content(std::span<const std::byte> content) {
  if (content.empty()) return {digest_of_chunks(0, {}), {}};
  return one_chunk_tree({ContentKind::file, content.size(), hash_chunk(content)});
}

std::vector<Digest> hash_contents(std::span<const std::span<const std::byte>> contents) {
  std::vector<std::span<const std::byte>> messages;  // whole leaves first: those are of one length
  for (const auto content : contents) {
    if (content.size() > chunk_size_bytes) throw Error(FailureKind::internal, "content of more than a chunk");
    for (std::size_t at = leaf_size_bytes; at <= content.size(); at += leaf_size_bytes) {
      messages.push_back(content.subspan(at - leaf_size_bytes, leaf_size_bytes));
    }
  }
  const std::size_t whole = messages.size();
  for (const auto content : contents) {
    if (const std::size_t tail = content.size() % leaf_size_bytes) messages.push_back(content.last(tail));
  }
  std::vector<Sha256> hashes(messages.size());
  sha256_each(messages, hashes);

  auto next_leaf = hashes.cbegin(), next_tail = next_leaf + static_cast<std::ptrdiff_t>(whole);
  std::vector<Digest> digests;
  digests.reserve(contents.size());
  for (const auto content : contents) {
    std::array<Sha256, leaves_per_chunk> leaves;
    std::size_t count = content.size() / leaf_size_bytes;
    std::copy_n(next_leaf, count, leaves.begin());
    next_leaf += static_cast<std::ptrdiff_t>(count);
    if (content.size() % leaf_size_bytes > 0) leaves[count++] = *next_tail++;
    const auto hash =
        count > 0 ? chunk_of(content.size(), std::span(leaves).first(count)) : hash_content({}).digest.hash;
    digests.push_back({ContentKind::file, content.size(), hash});
  }
  return digests;
}

FileHasher::FileHasher() = default;

void FileHasher::update(std::span<const std::byte> bytes) {
  size_bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (buffer_.empty() && bytes.size() >= chunk_size_bytes) {  // nothing to join: hash it where it stands
      chunks_.push_back(hash_chunk(bytes.first(chunk_size_bytes)));
      bytes = bytes.subspan(chunk_size_bytes);
      continue;
    }
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), chunk_size_bytes - buffer_.size()));
    buffer_.insert(buffer_.end(), piece.begin(), piece.end());
    bytes = bytes.subspan(piece.size());
    if (buffer_.size() == chunk_size_bytes) {
      chunks_.push_back(hash_chunk(buffer_));
      buffer_.clear();
    }
  }
}

FileTree FileHasher::finish() {
  if (!buffer_.empty()) chunks_.push_back(hash_chunk(buffer_));
  std::vector<std::byte>().swap(buffer_);  // gives its memory back, which `= {}` does not
  const Digest digest = digest_of_chunks(size_bytes_, chunks_);
  return {digest, std::move(chunks_)};
}

FileTree hash_file(int fd, std::uint64_t size_bytes, const std::filesystem::path& name) {
  FileTree tree;
  std::vector<std::byte> buffer(std::min(size_bytes, chunk_size_bytes));
  for (std::uint64_t i = 0; i < chunk_count(size_bytes); ++i) {
    const auto chunk = std::span(buffer).first(chunk_length(size_bytes, i));
    if (read_at(fd, chunk, i * chunk_size_bytes, name) != chunk.size()) {
      throw Error(FailureKind::changed, name.string() + " became shorter while it was read",
                  "let its writer finish, then try again");
    }
    tree.chunks.push_back(hash_chunk(chunk));
  }
  tree.digest = digest_of_chunks(size_bytes, tree.chunks);
  return tree;
}

}  // namespace sabath
