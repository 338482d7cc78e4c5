// An archive as it streams out of libarchive: its entries in order, and the bytes of each. Names and targets are the
// archive's own bytes. A tar joined to a tar goes on with the entries of the second. Decides nothing about entries.
// One thread, whose character set is ours as long as the object lives. Throws Error{invalid}, also for bytes behind the
// end that are neither padding nor another tar, and what `read` throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct archive;
struct archive_entry;

namespace sabath {

// Reads at an offset, at most as many bytes as the span holds; returns their number, 0 at the end.
using ReadAt = std::function<std::size_t(std::uint64_t, std::span<std::byte>)>;

class ArchiveStream {
 public:
  ArchiveStream(const std::string& name, const ReadAt& read);  // both must outlive it
  ~ArchiveStream();
  ArchiveStream(const ArchiveStream&) = delete;
  ArchiveStream& operator=(const ArchiveStream&) = delete;

  [[nodiscard]] bool is_tar() const { return !tar_block_.empty(); }
  [[nodiscard]] archive_entry* next();  // valid until the next call; nullptr at the end
  struct Block {
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes;
  };
  [[nodiscard]] std::optional<Block> next_block();  // of this entry; nullopt at its end
  std::uint64_t drain();  // reads the rest, so that a truncated or padded source is seen wholly; the length of it all
  [[nodiscard]] std::uint64_t seen() const { return seen_; }  // [0, seen()) has been read

 private:
  struct Free {
    void operator()(archive* a) const noexcept;
  };
  using Handle = std::unique_ptr<archive, Free>;
  struct Callbacks;  // what libarchive calls
  class CharacterSet;

  void open_zip();
  void open_packed();
  void open_tar();
  bool open_joined();
  void refuse_rest();
  std::size_t read_source(std::span<std::byte> into);
  std::span<const std::byte> next_of_tar();
  [[noreturn]] void fail(archive* a);
  [[noreturn]] void refuse(const std::string& why) const;

  const std::string& name_;
  const ReadAt& read_;
  std::uint64_t offset_ = 0, seen_ = 0;
  std::vector<std::byte> source_block_, tar_block_;  // as they come; unpacked
  std::span<const std::byte> given_, rest_;  // of tar_block_: what the tar's reader has; what the next one begins with
  std::uint64_t given_bytes_ = 0, tar_begin_ = 0;  // to this reader; where this tar begins in the unpacked stream
  std::vector<std::uint64_t> marks_;               // of a zip: the bytes that say that a name is UTF-8
  std::exception_ptr thrown_;                      // by `read`, waiting here until we are back in C++
  std::unique_ptr<CharacterSet> characters_;
  Handle packed_, archive_;  // what takes a compression off; what reads entries
};

}  // namespace sabath
