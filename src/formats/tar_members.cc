#include "formats/tar_members.h"

#include <algorithm>
#include <cstdint>

namespace sabath {
namespace {

constexpr std::size_t block_bytes = 512, size_at = 124, size_bytes = 12, sum_at = 148, sum_bytes = 8, type_at = 156;
constexpr std::size_t headers_max = 64;  // with those that only say something of the next

// Octal digits, or a number in base 256 behind a byte that has its highest bit set.
std::uint64_t tar_number(std::string_view field) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
    for (const char c : field.substr(4)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  for (const char c : field) {
    if (c >= '0' && c <= '7') value = value << 3 | static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool is_header(std::string_view block) {
  if (block.size() < block_bytes || block[0] == '\0') return false;
  const std::string_view sum = block.substr(sum_at, sum_bytes);
  if (sum.find_first_not_of(std::string_view("01234567 \0", 10)) != sum.npos) return false;
  std::int64_t plain = 0, with_signs = 0;
  for (std::size_t i = 0; i < block_bytes; ++i) {
    const char c = i >= sum_at && i < sum_at + sum_bytes ? ' ' : block[i];
    plain += static_cast<unsigned char>(c);
    with_signs += static_cast<signed char>(c);
  }
  const auto said = static_cast<std::int64_t>(tar_number(sum));
  return said == plain || said == with_signs;
}

class MemberContent final : public ByteSource {
 public:
  MemberContent(ByteSource& source, std::uint64_t bytes) : source_(source), left_(bytes) {}
  std::size_t read(std::span<char> into) override {
    const std::size_t got =
        source_.read(into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_))));
    left_ -= got;
    return got;
  }
  std::uint64_t skip(std::uint64_t bytes) override {
    const std::uint64_t passed = source_.skip(std::min(bytes, left_));
    left_ -= passed;
    return passed;
  }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  ByteSource& source_;
  std::uint64_t left_;
};

}  // namespace

bool is_tar(std::string_view first_bytes) { return is_header(first_bytes.substr(0, block_bytes)); }

void for_each_tar_member(ByteSource& source, std::size_t members_max,
                         const std::function<void(const std::string& name, ByteSource& content)>& visit) {
  std::size_t members = 0;
  for (std::size_t headers = 0; headers < headers_max && members < members_max; ++headers) {
    std::string block(block_bytes, '\0');
    if (read_full(source, block) < block_bytes || !is_header(block)) return;
    const std::uint64_t bytes = tar_number(std::string_view(block).substr(size_at, size_bytes));
    const std::uint64_t padding = (block_bytes - bytes % block_bytes) % block_bytes;
    const char type = block[type_at];
    MemberContent content(source, bytes);
    if (type == '0' || type == '\0' || type == '7') {
      visit(block.substr(0, std::min<std::size_t>(block.find('\0'), 100)), content);
      ++members;
    }
    const bool is_link = type == '1' || type == '2';  // their size counts for nothing
    if (!is_link && members < members_max && source.skip(content.left() + padding) < content.left() + padding) return;
  }
}

}  // namespace sabath
