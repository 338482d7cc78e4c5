// Zip archives as data formats use them (.npz, .pth, .keras): the list of members, and their bytes, stored or deflated.
// The list at the end counts; sizes that it claims are checked against the file, and what is unpacked against them. No
// encryption, no archive in several files. Source: PKWARE's APPNOTE, 4.3 and 4.5.3. One thread at a time. Throws
// Error{invalid} for what is damaged or unknown, {content} where the file ends early.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bytes.h"

namespace sabath {

struct ZipMember {
  std::string name;  // as it stands there: printable() shows it, no path is made of it
  std::uint64_t packed_bytes = 0, bytes = 0, header_offset = 0;
  unsigned method = 0;  // 0: stored, 8: deflated
};

class ZipArchive {
 public:
  static constexpr std::size_t members_max = 100'000;

  explicit ZipArchive(std::filesystem::path file);
  [[nodiscard]] const std::vector<ZipMember>& members() const noexcept { return members_; }
  [[nodiscard]] const ZipMember* find(std::string_view name) const;
  // Its bytes, exactly member.bytes of them; their CRC is not checked.
  [[nodiscard]] std::unique_ptr<ByteSource> open(const ZipMember& member) const;

 private:
  std::filesystem::path file_;
  std::string name_;
  std::vector<ZipMember> members_;
};

[[nodiscard]] bool is_zip(std::string_view first_bytes);

}  // namespace sabath
