#include "store/packs/pack_scan.h"

#include <algorithm>

#include "base/hash.h"
#include "sabath/error.h"

namespace sabath {
namespace {

class Scan {
 public:
  Scan(int fd, const std::filesystem::path& file, const Digest& name, const PackScanOptions& options)
      : fd_(fd), file_(file), name_(name), options_(options) {}

  PackScan run() {
    read_index();
    std::ranges::sort(members_, {}, &PackMember::offset);
    check_head();
    std::vector<std::byte> window;
    for (std::size_t i = 0; i < members_.size();) i = check_some(i, window);
    return std::move(scan_);
  }

 private:
  std::size_t read(std::span<std::byte> bytes, std::uint64_t offset) {
    const std::size_t n = read_at(fd_, bytes, offset, file_);
    scan_.bytes_read += n;
    if (options_.on_bytes && n > 0) options_.on_bytes(n);
    return n;
  }

  void check_head() {
    std::string head(pack_magic.size(), '\0');
    if (read(std::as_writable_bytes(std::span(head)), 0) != head.size() || head != pack_magic) scan_.whole = false;
  }

  void read_index() {
    scan_.whole = false;
    if (name_.size_bytes < pack_magic.size() + pack_footer_size) return;
    std::string end(pack_footer_size, '\0');
    if (read_at(fd_, std::as_writable_bytes(std::span(end)), name_.size_bytes - end.size(), file_) != end.size())
      return;
    const auto footer = try_parse_pack_footer(end, name_.size_bytes);
    if (!footer) return;
    std::string index(footer->index_bytes(), '\0');
    if (read(std::as_writable_bytes(std::span(index)), footer->index_offset) != index.size()) return;
    if (sha256(index) == name_.hash) {
      try {
        members_ = parse_pack_index(index, name_.size_bytes);
        scan_.whole = true;
        return;
      } catch (const Error& error) {
        if (error.failure().kind != FailureKind::invalid) throw;
      }
    }
    for (std::size_t i = 0; i < footer->members; ++i) {
      auto member = try_parse_pack_record(std::string_view(index).substr(i * pack_record_size, pack_record_size));
      if (member && member->offset <= footer->index_offset &&
          member->stored_bytes <= footer->index_offset - member->offset) {
        members_.push_back(*member);
      }
    }
  }

  // Checks members that stand side by side, up to a chunk of them, by one read. Returns the first not among them.
  std::size_t check_some(std::size_t first, std::vector<std::byte>& window) {
    const std::uint64_t begin = members_[first].offset;
    std::uint64_t end = begin;
    std::size_t last = first;
    for (; last < members_.size(); ++last) {
      const PackMember& member = members_[last];
      if (member.offset != end || (last > first && end + member.stored_bytes - begin > chunk_size_bytes)) break;
      end += member.stored_bytes;
    }
    window.resize(end - begin);
    const std::size_t n = read(window, begin);
    for (std::size_t i = first; i < last; ++i) {
      const PackMember& member = members_[i];
      const std::size_t at = member.offset - begin;
      const bool there = at + member.stored_bytes <= n;
      check(member, there ? std::span(window).subspan(at, member.stored_bytes) : std::span<std::byte>{}, there);
    }
    return last;
  }

  void check(const PackMember& member, std::span<const std::byte> stored, bool there) {
    ++scan_.members;
    if (!there || !is_right(member, stored)) return scan_.bad.push_back(member);
    if (!options_.on_member) return;
    PackMember right = member;
    if (!scan_.whole)
      right.xxh3 = xxh3_64(stored);  // a damaged index may have it wrong, and that is not the content's fault
    options_.on_member(right, stored);
  }

  bool is_right(const PackMember& member, std::span<const std::byte> stored) {
    // Even if it would unpack well: zstd has bits that change nothing, and --quick would report it for ever.
    if (scan_.whole && xxh3_64(stored) != member.xxh3) return false;
    if (scan_.whole && options_.quick) return true;
    content_.resize(member.digest.size_bytes);
    return try_unpack(member, stored, content_) && is_content(content_, member.digest);
  }

  const int fd_;
  const std::filesystem::path& file_;
  const Digest& name_;
  const PackScanOptions& options_;
  std::vector<PackMember> members_;
  std::vector<std::byte> content_;
  PackScan scan_;
};

}  // namespace

PackScan scan_pack(int fd, const std::filesystem::path& file, const Digest& name, const PackScanOptions& options) {
  return Scan(fd, file, name, options).run();
}

}  // namespace sabath
