// Writes one pack: members one after the other, then the index. Used by one thread at a time. Under a temporary name
// until Packs gives it its own; destroyed before, it removes its file. Throws Error{space}, Error{storage}.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/file.h"
#include "store/disk/members.h"
#include "store/packs/pack_format.h"

namespace sabath {

// One content as a pack stores it. `stored`: the content itself, or in memory of this thread until its next one.
struct PackedContent {
  PackMember member;  // without its offset
  std::span<const std::byte> stored;
};

// Compresses where it pays: if the first contents together became at least a tenth smaller, and then each that becomes
// smaller itself. Any thread.
class PackTrial {
 public:
  [[nodiscard]] PackedContent pack(const Digest& digest, std::span<const std::byte> content);

 private:
  [[nodiscard]] std::span<const std::byte> compress(std::span<const std::byte> content);
  std::atomic<std::uint64_t> seen_ = 0, became_ = 0;
};

class PackWriter {
 public:
  explicit PackWriter(std::filesystem::path temporary, Members members = {});  // members: who can read it
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  // At most pack_member_max bytes, already hashed. If it throws, nothing has been added.
  void add(PackMember member, std::span<const std::byte> stored);
  [[nodiscard]] std::size_t members() const { return members_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return end_; }
  // Writes the index, makes the file read-only and durable, and closes it; once. Returns the pack's name: the SHA-256
  // of the index with the length of the file. `members` as the index has them.
  Digest finish();
  [[nodiscard]] const std::vector<PackMember>& sorted() const { return members_; }  // after finish()
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  void let_go() { named_ = true; }  // it has its name now: the destructor keeps the file

 private:
  void put(std::span<const std::byte> bytes);
  void flush();

  const std::filesystem::path temporary_;
  const Members readers_;
  Fd fd_;
  std::vector<PackMember> members_;
  std::vector<std::byte> buffer_;  // the last of `end_` bytes
  std::uint64_t end_ = 0;
  std::optional<Digest> name_;  // it is finished
  bool named_ = false;
};

}  // namespace sabath
