// An archive as it streams out of libarchive: its entries in order, and the bytes of each. Decides nothing about them.
// One thread, which has a UTF-8 character set as long as the object lives. Throws Error{invalid}, and what `read`
// throws.
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

// Up to so many bytes at an offset, 0 at the end.
using ReadAt = std::function<std::size_t(std::uint64_t, std::span<std::byte>)>;

class ArchiveStream {
 public:
  ArchiveStream(const std::string& name, const ReadAt& read);  // both must outlive it
  ~ArchiveStream();
  ArchiveStream(const ArchiveStream&) = delete;
  ArchiveStream& operator=(const ArchiveStream&) = delete;

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
  struct Callbacks;  // what libarchive calls
  class Utf8Names;

  void open();
  bool is_zip();
  std::size_t read_block();
  [[noreturn]] void fail();

  const std::string& name_;
  const ReadAt& read_;
  std::uint64_t offset_ = 0, seen_ = 0;
  std::vector<std::byte> block_;
  std::exception_ptr thrown_;  // by `read`, waiting here until we are back in C++
  std::unique_ptr<Utf8Names> names_;
  std::unique_ptr<archive, Free> archive_;
};

}  // namespace sabath
