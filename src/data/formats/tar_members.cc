#include "formats/tar_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t block_bytes = 512, size_at = 124, size_bytes = 12, sum_at = 148, sum_bytes = 8, type_at = 156;
constexpr std::size_t headers_max = 10'000;  // with those that only say something of the next
constexpr std::uint64_t pax_bytes_max = 1 << 20, octal_size_max = 0x1'ffff'ffff;
constexpr std::string_view bare_types = "123456";   // links, devices, directories, pipes: their size counts for nothing
constexpr std::string_view pax_types = "xgX";       // of the next, of all, of Solaris
constexpr std::string_view other_types = "xgXLKS";  // no members, or one in pieces

// In base 256, signed, behind a byte that only says so.
std::optional<std::int64_t> number_of_bytes(std::string_view bytes, std::int64_t value) {
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max() >> 8;
  for (const char c : bytes) {
    if (value > max || value < -max) return std::nullopt;
    value = value * 256 + static_cast<unsigned char>(c);
  }
  return value;
}

// As tarfile's nti() reads it: up to a zero byte, as int(text, 8). nullopt: nti() refuses it.
std::optional<std::int64_t> tar_number(std::string_view field) {
  if (field[0] == '\x80') return number_of_bytes(field.substr(1), 0);
  if (field[0] == '\xff') return number_of_bytes(field.substr(1), -1);
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); };
  std::string_view text = field.substr(0, field.find('\0'));
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  if (text.empty()) return 0;
  std::string digits(text);
  const bool below_zero = digits[0] == '-';
  if (below_zero || digits[0] == '+') digits.erase(0, 1);
  if (digits.starts_with("0o") || digits.starts_with("0O")) digits.erase(0, 2);
  std::erase(digits, '_');
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return below_zero ? -value : value;
}

bool is_end(std::string_view block) { return block.find_first_not_of('\0') == block.npos; }

bool is_header(std::string_view block) {
  if (block.size() < block_bytes || is_end(block)) return false;
  const auto said = tar_number(block.substr(sum_at, sum_bytes));
  std::int64_t plain = 0, with_signs = 0;
  for (std::size_t i = 0; i < block_bytes; ++i) {
    const char c = i >= sum_at && i < sum_at + sum_bytes ? ' ' : block[i];
    plain += static_cast<unsigned char>(c);
    with_signs += static_cast<signed char>(c);
  }
  return said && (*said == plain || *said == with_signs);
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

// One walk. What Python's tarfile could read otherwise than it is read here ends it with an error.
class TarWalk {
 public:
  TarWalk(ByteSource& source, const std::string& name, const TarVisit& visit)
      : source_(source), name_(name), visit_(visit) {}

  // At most `members_max`. False: there may be more.
  bool go(std::size_t members_max) {
    std::size_t headers = 0;
    while (members_ < members_max) {
      std::string block(block_bytes, '\0');
      if (read_full(source_, block) < block_bytes || is_end(block)) return true;
      if (!is_header(block)) refuse("what follows a member is no header");
      if (++headers > headers_max) refuse("it has more headers than are looked at");
      if (!pass(block)) return true;
    }
    return false;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(FailureKind::invalid, fmt::format("the archive {} is damaged: {}", name_, why),
                "get the file again, or unpack it and look into its files");
  }

  // The header and what belongs to it. False: the bytes end here.
  bool pass(const std::string& block) {
    const char type = type_of(block);
    if (type == 'S') refuse("a member of it is in pieces");
    MemberContent content(source_, size_of(block, type));
    const std::uint64_t padding = (block_bytes - content.left() % block_bytes) % block_bytes;
    if (pax_types.find(type) != pax_types.npos) {
      take_pax(content, type);
    } else if (other_types.find(type) == other_types.npos) {
      pax_size_.reset();
      if (bare_types.find(type) != bare_types.npos) return true;
      visit_(name_of(block), content);
      ++members_;
    }
    return source_.skip(content.left() + padding) == content.left() + padding;
  }

  static std::string name_of(const std::string& block) {
    return block.substr(0, std::min<std::size_t>(block.find('\0'), 100));
  }
  // A file of the oldest form that is called as a directory is one.
  static char type_of(const std::string& block) {
    const char type = block[type_at];
    return type == '\0' && name_of(block).ends_with('/') ? '5' : type;
  }

  // A pax header says the size that the octal digits have no room for, and else the same.
  [[nodiscard]] std::uint64_t size_of(std::string_view block, char type) const {
    const auto said = tar_number(block.substr(size_at, size_bytes));
    if (!said || *said < 0) refuse("the size of a member is no number");
    if (block[type_at] == '\0' && type == '5' && *said > 0) refuse("a member of it is a file and a directory");
    if (bare_types.find(type) != bare_types.npos) return 0;
    const auto size = static_cast<std::uint64_t>(*said);
    if (!pax_size_ || other_types.find(type) != other_types.npos) return size;
    if (*pax_size_ != size && *pax_size_ <= octal_size_max) refuse("it says two sizes of a member");
    return *pax_size_;
  }

  // Its records, without counting where each begins: "SIZE KEYWORD=VALUE\n".
  void take_pax(ByteSource& content, char type) {
    std::string records(pax_bytes_max + 1, '\0');
    records.resize(read_full(content, records));
    if (records.size() > pax_bytes_max) refuse("a header of it is too long");
    if (records.find("GNU.sparse.") != records.npos) refuse("a member of it is in pieces");
    constexpr std::string_view key = " size=";
    for (std::size_t at = records.find(key); at != records.npos; at = records.find(key, at + 1)) {
      const char* const begin = records.data() + at + key.size();
      const char* const end = records.data() + records.size();
      std::uint64_t size = 0;
      const auto [stop, error] = std::from_chars(begin, end, size);
      const bool plain = error == std::errc() && stop != end && *stop == '\n' && size >> 60 == 0;
      if (!plain || type == 'g' || pax_size_.value_or(size) != size)
        refuse("a header of it says a size that is unclear");
      pax_size_ = size;
    }
  }

  ByteSource& source_;
  const std::string& name_;
  const TarVisit& visit_;
  std::size_t members_ = 0;
  std::optional<std::uint64_t> pax_size_;  // of the next member
};

}  // namespace

bool is_tar(std::string_view first_bytes) { return is_header(first_bytes.substr(0, block_bytes)); }

bool for_each_tar_member(ByteSource& source, std::size_t members_max, const std::string& name, const TarVisit& visit) {
  return TarWalk(source, name, visit).go(members_max);
}

}  // namespace sabath
