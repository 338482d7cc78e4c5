// Zip archives as data formats use them (.npz, .pth, .keras): the list of members, and their bytes, stored or deflated.
// zip_directory.h finds the list; sizes that it claims are checked against the file, and what is unpacked against them.
// No encryption, no archive in several files, nothing before the archive or behind it. One thread at a time. Throws
// Error{invalid} for what is damaged or unknown, {content} where the file ends early.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bytes.h"
#include "formats/zip_directory.h"

namespace sabath {

struct ZipMember {
  std::string name;  // as it stands there: printable() shows it, no path is made of it
  std::uint64_t packed_bytes = 0, bytes = 0, header_offset = 0;
  unsigned flags = 0, method = 0;  // method 0: stored, 8: deflated
  unsigned mode = 0;               // of Unix, as stat(2) has it; 0: not stated
};

class ZipArchive {
 public:
  static constexpr std::size_t members_max = 100'000;

  explicit ZipArchive(const std::filesystem::path& file);
  ZipArchive(const ZipArchive&) = delete;  // its members are read from the file that it keeps open
  ZipArchive& operator=(const ZipArchive&) = delete;
  [[nodiscard]] const std::vector<ZipMember>& members() const noexcept { return members_; }
  [[nodiscard]] const ZipMember* find(std::string_view name) const;
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return file_.size_bytes(); }
  // Its bytes, exactly member.bytes of them; their CRC is not checked. The archive outlives them.
  [[nodiscard]] std::unique_ptr<ByteSource> open(const ZipMember& member) const;

 private:
  FileBytes file_;
  std::string name_;
  std::optional<ZipDirectory> directory_;
  std::vector<ZipMember> members_;
};

[[nodiscard]] bool is_zip(std::string_view first_bytes);
// As Python's zipfile sees it, which looks at the end alone: bytes may stand before the archive. Reads 64 KiB.
[[nodiscard]] bool ends_as_zip(const FileBytes& file);

}  // namespace sabath
