// The list of members at the end of a zip archive, read so that every reader reads the same one. Python, libarchive,
// miniz and others find the end, the zip64 record and the names in ways of their own; an archive in which they would
// find different lists is damaged here. Sources: PKWARE's APPNOTE, 4.3 and 4.5; Python's
// Lib/zipfile. Owns nothing but what it was given to read with. One thread at a time. Throws Error{invalid} for what is
// damaged or ambiguous, and what reading throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sabath {

struct ZipEntry {
  std::string_view name, extra;  // valid during the visit
  unsigned flags = 0, method = 0;
  std::uint64_t packed_bytes = 0, bytes = 0;
  std::uint64_t header_offset = 0;  // of the header before its content, from the file's first byte
  std::uint64_t entry_offset = 0;   // of this entry of the list
  unsigned made_by = 0;             // 3: Unix, whose mode is in the upper half of `attributes`
  std::uint32_t attributes = 0;
};

class ZipDirectory {
 public:
  // At most as many bytes as the span holds, at an offset; returns their number, 0 at the end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> into)>;

  // nullopt: the file has no end record. `name`, printable, is for messages.
  [[nodiscard]] static std::optional<ZipDirectory> find(Read read, std::uint64_t size, std::string name);

  [[nodiscard]] std::uint64_t members() const noexcept { return members_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t before() const noexcept { return base_; }    // bytes before the archive, by its own count
  [[nodiscard]] std::uint64_t behind() const noexcept { return behind_; }  // bytes behind it that are not zeros
  [[nodiscard]] bool is_followed() const noexcept {
    return followed_;
  }  // something stands between it and its end record

  void for_each(const std::function<void(const ZipEntry&)>& visit) const;
  // Where the content of this member begins. Throws if the header before it names another member.
  [[nodiscard]] std::uint64_t content_offset(std::string_view name, unsigned method, std::uint64_t header_offset) const;

 private:
  ZipDirectory(Read read, std::uint64_t size, std::string name)
      : read_(std::move(read)), size_(size), name_(std::move(name)) {}
  bool find_end();
  void take_end(std::uint64_t at, std::string_view record);
  void take_large(std::uint64_t at, std::string_view place, std::string_view record);
  void place_list(std::uint64_t end);
  [[nodiscard]] std::string text_at(std::uint64_t offset, std::uint64_t length) const;  // shorter at the file's end
  [[noreturn]] void refuse(std::string_view why) const;

  Read read_;
  std::uint64_t size_;
  std::string name_;
  std::uint64_t offset_ = 0, bytes_ = 0, members_ = 0, base_ = 0, behind_ = 0;
  bool followed_ = false;
};

}  // namespace sabath
