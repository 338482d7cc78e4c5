// Writes one pack: members one after the other, compressed where a trial says that it pays, then the index. Owned by
// one thread. Under a temporary name until Packs gives it its own; destroyed before, it removes its file. Throws
// Error{space}, Error{storage}.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"
#include "store/pack_format.h"

namespace sabath {

class PackWriter {
 public:
  explicit PackWriter(std::filesystem::path temporary);
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  void add(const Digest& digest, std::span<const std::byte> content);     // at most pack_member_max bytes, and hashed
  void add_stored(PackMember member, std::span<const std::byte> stored);  // as another pack has it, and checked
  [[nodiscard]] std::size_t members() const { return members_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return end_; }
  // Writes the index, makes the file read-only and durable. Returns the pack's name: the SHA-256 of the index with the
  // length of the file. `members` as the index has them.
  [[nodiscard]] Digest finish();
  [[nodiscard]] const std::vector<PackMember>& sorted() const { return members_; }  // after finish()
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  [[nodiscard]] Fd take() { return std::move(fd_); }  // it has a name of its own now

 private:
  struct Compressor;
  void put(std::span<const std::byte> bytes);
  void flush();

  const std::filesystem::path temporary_;
  Fd fd_;
  std::unique_ptr<Compressor> compressor_;
  std::vector<PackMember> members_;
  std::vector<std::byte> buffer_;
  std::uint64_t end_ = 0;
};

}  // namespace sabath
