#include "fetch/remote_tar/remote_tar_header.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t extension_size_max = 1 << 20;  // of one pax header or long name
constexpr std::uint64_t padding_max = 16ULL << 20;   // before one member, or at the end
constexpr std::uint64_t padding_window = 64ULL << 10;
constexpr unsigned extensions_max = 16;  // before one member
constexpr std::uint64_t position_max = INT64_MAX;

// POSIX.1-1988 (tar interchange format) and the GNU tar manual, "Basic Tar Format": places in the block of 512 bytes.
struct Field {
  std::size_t at, length;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, size_field{124, 12}, checksum_field{148, 8},
    link_field{157, 100}, magic_field{257, 8}, prefix_field{345, 155};
constexpr std::size_t type_at = 156;

std::uint64_t whole_blocks(std::uint64_t bytes) {
  return (bytes + tar_block_size - 1) / tar_block_size * tar_block_size;
}

class MemberReader {
 public:
  MemberReader(const std::string& name, const TarRead& read, std::uint64_t offset, std::uint64_t size_bytes)
      : name_(name), read_(read), at_(offset), size_(size_bytes) {}

  std::optional<TarMember> run() {
    for (unsigned extensions = 0; extensions <= extensions_max; ++extensions) {
      if (!read_block(extensions == 0)) {
        if (extensions > 0) refuse("ends after an extended header");
        return std::nullopt;
      }
      if (!take_extension()) return member();
    }
    refuse("has more extended headers for one member than is sensible");
  }

 private:
  // False at the end. Blocks of zeros are an end mark and padding; what comes behind them is a tar joined to this one.
  bool read_block(bool begins) {
    const std::uint64_t from = at_;
    for (std::uint64_t length = tar_block_size; at_ < size_; length = padding_window) {
      const auto bytes = read_(at_, static_cast<std::size_t>(std::min(length, size_ - at_)));
      const auto content = std::ranges::find_if(bytes, [](std::byte b) { return b != std::byte{0}; });
      if (content != bytes.end()) {
        at_ += static_cast<std::uint64_t>(content - bytes.begin()) / tar_block_size * tar_block_size;
        if (at_ != from && !begins) break;
        take_block();
        return true;
      }
      at_ += bytes.size();
      if (at_ - from > padding_max) refuse("has more zeros before a member than is sensible", fetch_it_whole());
    }
    return false;
  }

  void take_block() {
    if (size_ - at_ < tar_block_size) refuse("ends inside a header: it is cut off, or is no tar");
    const auto bytes = read_(at_, tar_block_size);
    block_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    check_sum();
    at_ += tar_block_size;
  }

  void check_sum() const {
    unsigned bytes = 0;
    int characters = 0;  // some old writers added signed ones
    for (std::size_t i = 0; i < block_.size(); ++i) {
      const bool own = i >= checksum_field.at && i < checksum_field.at + checksum_field.length;
      const char c = own ? ' ' : block_[i];
      bytes += static_cast<unsigned char>(c);
      characters += static_cast<signed char>(c);
    }
    const auto said = static_cast<std::int64_t>(number(checksum_field, "checksum"));
    if (said == bytes || said == characters) return;
    if (at_ == 0) refuse("is no plain tar", fetch_it_whole());
    refuse("has a header that does not match its checksum");
  }

  [[nodiscard]] std::string_view raw(Field field) const {
    return std::string_view(block_).substr(field.at, field.length);
  }
  [[nodiscard]] std::string_view text(Field field) const {
    const auto bytes = raw(field);
    return bytes.substr(0, bytes.find('\0'));
  }

  // Octal digits between blanks and zeros, or base 256 behind a set first bit.
  [[nodiscard]] std::uint64_t number(Field field, const char* what) const {
    std::string_view digits = raw(field);
    if ((digits.front() & 0x80) != 0) return base_256(digits, what);
    while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
    digits = digits.substr(0, std::min(digits.find('\0'), digits.find(' ')));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
    if (!digits.empty() && (error != std::errc() || end != digits.data() + digits.size()))
      refuse(fmt::format("has a header whose {} is no number", what));
    return value;
  }

  [[nodiscard]] std::uint64_t base_256(std::string_view bytes, const char* what) const {
    std::uint64_t value = static_cast<unsigned char>(bytes.front()) & 0x7fU;  // bit 6 is the sign
    for (const char c : bytes.substr(1)) {
      if (value > position_max >> 8) refuse(fmt::format("has a header whose {} is out of bounds", what));
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }

  // A header that speaks of the next one: it is read, and passed.
  bool take_extension() {
    const char type = block_[type_at];
    if (type != 'x' && type != 'X' && type != 'g' && type != 'L' && type != 'K') return false;
    const std::uint64_t length = number(size_field, "size");
    if (length > extension_size_max || whole_blocks(length) > size_ - at_)
      refuse(fmt::format("has an extended header of {} bytes", length));
    const auto bytes = read_(at_, length);
    const std::string body(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    at_ += whole_blocks(length);
    if (type == 'L')
      long_name_ = body.substr(0, body.find('\0'));
    else if (type == 'K')
      long_link_ = body.substr(0, body.find('\0'));
    else
      take_pax(body, type == 'g');
    return true;
  }

  // Records "LENGTH KEY=VALUE\n", where the length is that of the whole record.
  void take_pax(std::string_view body, bool global) {
    while (!body.empty()) {
      std::size_t length = 0;
      const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), length);
      const auto head = static_cast<std::size_t>(end - body.data());
      if (error != std::errc() || length < head + 3 || length > body.size() || body[head] != ' ' ||
          body[length - 1] != '\n') {
        refuse("has a malformed pax header");
      }
      const std::string_view record = body.substr(head + 1, length - head - 2);
      const auto equals = record.find('=');
      if (equals == std::string_view::npos || equals == 0) refuse("has a malformed pax header");
      take_keyword(record.substr(0, equals), record.substr(equals + 1), global);
      body.remove_prefix(length);
    }
  }

  void take_keyword(std::string_view key, std::string_view value, bool global) {
    if (key.starts_with("GNU.sparse.") || key.starts_with("SUN.holesdata")) refuse_sparse();
    const bool known = key == "path" || key == "linkpath" || key == "size";
    if (!known) return;
    if (global) refuse(fmt::format("has a global pax header with a {} for all members", key));
    if (key == "path") pax_name_ = value;
    if (key == "linkpath") pax_link_ = value;
    if (key != "size" || value.empty()) return;
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (error != std::errc() || end != value.data() + value.size() || size > position_max)
      refuse("has a pax header whose size is no number");
    pax_size_ = size;
  }

  TarMember member() {
    TarMember member;
    member.name = name();
    member.kind = kind(member.name);
    member.executable = (number(mode_field, "mode") & 0111U) != 0;
    if (member.kind == TarMember::Kind::symlink || member.kind == TarMember::Kind::hard_link) member.target = target();
    const std::uint64_t size = pax_size_.value_or(number(size_field, "size"));
    if (member.kind == TarMember::Kind::hard_link && size > 0)
      refuse(fmt::format("holds a hard link with content of its own, {}", printable(member.name)), fetch_it_whole());
    // Of what has no content the size says nothing: some writers leave the target's there.
    member.size_bytes = member.kind == TarMember::Kind::file ? size : 0;
    member.offset = at_;
    if (member.size_bytes > size_ - at_) refuse(fmt::format("ends inside {}: it is cut off", printable(member.name)));
    // Some writers leave out the last member's padding.
    member.next = at_ + std::min(whole_blocks(member.size_bytes), size_ - at_);
    return member;
  }

  [[nodiscard]] std::string name() const {
    if (!pax_name_.empty()) return pax_name_;
    if (!long_name_.empty()) return long_name_;
    const bool posix = raw(magic_field).starts_with(std::string_view("ustar\0", 6));
    const auto prefix = posix ? text(prefix_field) : std::string_view();
    return prefix.empty() ? std::string(text(name_field)) : fmt::format("{}/{}", prefix, text(name_field));
  }

  [[nodiscard]] std::string target() const {
    if (!pax_link_.empty()) return pax_link_;
    return long_link_.empty() ? std::string(text(link_field)) : long_link_;
  }

  [[nodiscard]] TarMember::Kind kind(const std::string& name) const {
    switch (block_[type_at]) {
      case '\0':
      case '0':
      case '7':  // contiguous, to whom it may concern
        return name.ends_with('/') ? TarMember::Kind::directory : TarMember::Kind::file;  // the former: v7
      case '1':
        return TarMember::Kind::hard_link;
      case '2':
        return TarMember::Kind::symlink;
      case '5':
        return TarMember::Kind::directory;
      case 'S':
        refuse_sparse();
      default:
        refuse(fmt::format("holds {}, which is neither a file, a directory nor a symlink", printable(name)));
    }
  }

  [[noreturn]] void refuse_sparse() const {
    refuse("holds a sparse file, which no range of it contains", fetch_it_whole());
  }
  [[noreturn]] void refuse(const std::string& why,
                           const std::string& hint = "nothing of it was kept; tell its publisher") const {
    throw Error(FailureKind::invalid, fmt::format("the archive {} {} (at byte {})", name_, why, at_), hint);
  }

  const std::string& name_;
  const TarRead& read_;
  std::uint64_t at_;
  const std::uint64_t size_;
  std::string block_;
  std::string long_name_, long_link_, pax_name_, pax_link_;
  std::optional<std::uint64_t> pax_size_;
};

}  // namespace

std::string fetch_it_whole() {
  return fmt::format("fetch it whole, without {} and {}", option_text("sample"), option_text("select"));
}

std::optional<TarMember> read_tar_member(const std::string& name, const TarRead& read, std::uint64_t offset,
                                         std::uint64_t size_bytes) {
  return MemberReader(name, read, offset, size_bytes).run();
}

const char* packed_as(std::span<const std::byte> first) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text.starts_with("\x1f\x8b")) return "gzip";
  if (text.starts_with("\x28\xb5\x2f\xfd")) return "zstd";
  if (text.starts_with(std::string_view("\xfd"
                                        "7zXZ\0",
                                        6))) {
    return "xz";
  }
  if (text.starts_with("BZh")) return "bzip2";
  // The last two: a marker of a zip that was to be split (APPNOTE 8.5.4).
  for (const char* begin : {"PK\3\4", "PK\5\6", "PK00PK\3\4", "PK\7\10PK\3\4"}) {
    if (text.starts_with(begin)) return "zip";
  }
  return nullptr;
}

}  // namespace sabath
