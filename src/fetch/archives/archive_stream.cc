#include "fetch/archives/archive_stream.h"

#include <archive.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fetch/remote_tar/remote_tar_header.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

namespace {

constexpr std::size_t block_size = 1 << 20;
constexpr std::uint64_t padding_max = 1ULL << 30;  // of what was packed: more is a bomb

bool is_padding(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

struct ArchiveStream::Callbacks {
  template <typename Get>
  static la_ssize_t give(ArchiveStream& stream, const void** buffer, Get get) {
    try {
      const std::span<const std::byte> bytes = get();
      *buffer = bytes.data();
      return static_cast<la_ssize_t>(bytes.size());
    } catch (...) {
      stream.thrown_ = std::current_exception();
      return -1;
    }
  }

  static la_ssize_t read(archive*, void* data, const void** buffer) {
    auto& stream = *static_cast<ArchiveStream*>(data);
    return give(stream, buffer, [&] {
      return std::span<const std::byte>(stream.source_block_).first(stream.read_source(stream.source_block_));
    });
  }

  static la_ssize_t read_tar(archive*, void* data, const void** buffer) {
    auto& stream = *static_cast<ArchiveStream*>(data);
    return give(stream, buffer, [&] { return stream.next_of_tar(); });
  }

  static la_int64_t seek(archive*, void* data, la_int64_t offset, int whence) {
    auto& stream = *static_cast<ArchiveStream*>(data);
    try {
      const std::uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? stream.offset_ : stream.drain();
      const auto to = static_cast<la_int64_t>(base) + offset;
      if (to < 0) return ARCHIVE_FATAL;
      stream.offset_ = static_cast<std::uint64_t>(to);
      return to;
    } catch (...) {
      stream.thrown_ = std::current_exception();
      return ARCHIVE_FATAL;
    }
  }
};

// libarchive turns names that are said to be UTF-8 into the thread's character set, and composes letters and accents on
// the way (NFC). In a tar it keeps the bytes of a name that has no place in that set: with "C" all that are not ASCII.
// In a zip it would lose them.
class ArchiveStream::CharacterSet {
 public:
  explicit CharacterSet(const char* name) : own_(newlocale(LC_CTYPE_MASK, name, nullptr)) {
    if (own_ != nullptr) before_ = uselocale(own_);
  }
  ~CharacterSet() {
    if (own_ == nullptr) return;
    uselocale(before_);
    freelocale(own_);
  }
  CharacterSet(const CharacterSet&) = delete;
  CharacterSet& operator=(const CharacterSet&) = delete;

 private:
  locale_t own_, before_ = nullptr;
};

// The end of a zip, which says where its directory is. What is malformed is left to libarchive.
class ArchiveStream::ZipEnd {
 public:
  ZipEnd(const ReadAt& read, std::uint64_t size) : read_(read), size_(size) { find(); }
  [[nodiscard]] bool found() const { return end_ > 0; }
  [[nodiscard]] std::uint64_t before() const { return base_; }  // bytes that stand before the zip, by its own count
  [[nodiscard]] std::uint64_t after() const { return after_; }  // bytes that stand behind it and are no padding

  // The second byte of the flags of each name in UTF-8: in the directory, and in the header before the content.
  [[nodiscard]] std::vector<std::uint64_t> marks() const {
    std::vector<std::uint64_t> places;
    for (std::uint64_t at = base_ + directory_; at < end_;) {
      const std::string header = bytes(at, 46);
      if (header.size() < 46 || !header.starts_with("PK\1\2")) break;
      const std::uint64_t name = number(header, 28, 2), extra = number(header, 30, 2), comment = number(header, 32, 2);
      if ((number(header, 8, 2) & 0x800U) != 0) {
        places.push_back(at + 9);
        places.push_back(base_ + local_header(header, bytes(at + 46 + name, extra)) + 7);
      }
      at += 46 + name + extra + comment;
    }
    std::ranges::sort(places);
    return places;
  }

 private:
  static constexpr std::size_t record_size = 22, comment_max = 65'535;
  static constexpr std::uint64_t elsewhere = UINT32_MAX;  // the number stands in an extra field

  static std::uint64_t number(std::string_view text, std::size_t at, std::size_t length) {
    std::uint64_t value = 0;
    for (std::size_t i = length; i > 0; --i) value = value << 8 | static_cast<unsigned char>(text[at + i - 1]);
    return value;
  }

  // Sizes, where they are elsewhere too, stand before the place (APPNOTE 4.5.3).
  static std::uint64_t local_header(std::string_view header, std::string_view extra) {
    const std::uint64_t plain = number(header, 42, 4);
    if (plain != elsewhere) return plain;
    const std::size_t skip =
        (number(header, 24, 4) == elsewhere ? 8 : 0) + (number(header, 20, 4) == elsewhere ? 8 : 0);
    while (extra.size() >= 4) {
      const std::size_t length = number(extra, 2, 2);
      if (number(extra, 0, 2) == 1 && length >= skip + 8 && extra.size() >= 4 + length)
        return number(extra, 4 + skip, 8);
      extra.remove_prefix(std::min(extra.size(), 4 + length));
    }
    return plain;
  }

  [[nodiscard]] std::string bytes(std::uint64_t at, std::uint64_t length) const {
    std::string text(length, '\0');
    std::size_t have = 0;
    while (have < text.size()) {
      const std::size_t n = read_(at + have, std::as_writable_bytes(std::span(text)).subspan(have));
      if (n == 0) break;
      have += n;
    }
    text.resize(have);
    return text;
  }

  void find() {
    const std::uint64_t from = size_ - std::min<std::uint64_t>(size_, record_size + comment_max);
    const std::string tail = bytes(from, size_ - from);
    for (std::size_t i = tail.rfind("PK\5\6"); i != tail.npos; i = i == 0 ? tail.npos : tail.rfind("PK\5\6", i - 1)) {
      if (tail.size() - i < record_size) continue;
      const std::size_t end = i + record_size + number(tail, i + 20, 2);
      if (end > tail.size()) continue;
      const bool last = is_padding(std::as_bytes(std::span(tail)).subspan(end));
      if (end_ > 0 && !last) continue;  // the one nearest to the end
      after_ = last ? 0 : tail.size() - end;
      take(from + i, std::string_view(tail).substr(i, record_size));
      if (last) return;
    }
  }

  void take(std::uint64_t at, std::string_view record) {
    std::uint64_t length = number(record, 12, 4);
    end_ = at;
    directory_ = number(record, 16, 4);
    base_ = 0;
    const std::string locator = at >= 20 ? bytes(at - 20, 20) : "";
    if (locator.starts_with("PK\6\7") && number(locator, 8, 8) < size_) {
      const std::string large = bytes(number(locator, 8, 8), 56);
      if (large.size() < 56 || !large.starts_with("PK\6\6")) return;
      end_ = number(locator, 8, 8);
      length = number(large, 40, 8);
      directory_ = number(large, 48, 8);
    }
    if (length > end_ || directory_ > end_ - length) return;
    base_ = end_ - length - directory_;
    if (!bytes(base_ + directory_, 4).starts_with("PK\1\2")) base_ = 0;  // something stands behind the directory
  }

  const ReadAt& read_;
  const std::uint64_t size_;
  std::uint64_t end_ = 0, directory_ = 0, base_ = 0, after_ = 0;
};

void ArchiveStream::Free::operator()(archive* a) const noexcept { archive_read_free(a); }

ArchiveStream::ArchiveStream(const std::string& name, const ReadAt& read)
    : name_(name), read_(read), source_block_(block_size) {
  std::array<std::byte, tar_block_size> first{};
  std::size_t have = 0;
  while (have < first.size()) {
    const std::size_t n = read_(have, std::span(first).subspan(have));
    if (n == 0) break;
    have += n;
  }
  const char* packed = packed_as(std::span(first).first(have));
  const bool zip = packed != nullptr && std::string_view(packed) == "zip";
  characters_ = std::make_unique<CharacterSet>(zip ? "C.UTF-8" : "C");
  if (zip) {
    open_zip();
    return;
  }
  const std::string_view text(reinterpret_cast<const char*>(first.data()), have);
  if (packed != nullptr || text.substr(std::min<std::size_t>(have, 257), 5) != "ustar") open_packed();
  tar_block_.resize(block_size);
  open_tar();
}

ArchiveStream::~ArchiveStream() = default;

// A zip's directory stands at its end. Members before it may be deleted ones; their headers lack symlinks and modes.
void ArchiveStream::open_zip() {
  constexpr std::uint64_t marker_size = 4;  // "PK00" or "PK\7\8", of a zip that was to be split
  const ZipEnd end(read_, drain());
  if (end.found() && end.before() > marker_size)
    refuse(fmt::format("begins with {} bytes that its directory does not know: another zip, it seems, joined to it",
                       end.before()));
  if (end.after() > 0)
    refuse(fmt::format("holds {} bytes behind its end, which its directory does not know", end.after()));
  if (end.found()) marks_ = end.marks();
  archive_.reset(archive_read_new());
  archive_read_support_format_zip_seekable(archive_.get());
  archive_read_set_seek_callback(archive_.get(), Callbacks::seek);
  if (archive_read_open(archive_.get(), this, nullptr, Callbacks::read, nullptr) != ARCHIVE_OK) fail(archive_.get());
}

// Takes off what compression there is; of none the bytes pass as they are.
void ArchiveStream::open_packed() {
  packed_.reset(archive_read_new());
  archive* a = packed_.get();
  archive_read_support_format_raw(a);
  // Not all filters: some of libarchive's are programs that it starts.
  for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                             archive_read_support_filter_xz, archive_read_support_filter_zstd}) {
    support(a);
  }
  if (archive_read_open(a, this, nullptr, Callbacks::read, nullptr) != ARCHIVE_OK) fail(a);
  archive_entry* whole = nullptr;
  if (archive_read_next_header(a, &whole) != ARCHIVE_OK) fail(a);
}

void ArchiveStream::open_tar() {
  archive_.reset(archive_read_new());
  archive_read_support_format_tar(archive_.get());
  given_ = {};
  given_bytes_ = 0;
  if (archive_read_open(archive_.get(), this, nullptr, Callbacks::read_tar, nullptr) != ARCHIVE_OK)
    fail(archive_.get());
}

// Behind a tar's end mark: zeros, up to the end or to another tar, as `cat` and parallel writers join them.
bool ArchiveStream::open_joined() {
  const auto used = static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), -1));
  std::uint64_t at = tar_begin_ + used, padding = 0;
  auto left = given_.last(std::min<std::uint64_t>(given_.size(), given_bytes_ - used));
  for (;; at += left.size(), padding += left.size(), left = {}) {
    if (left.empty()) left = next_of_tar();
    if (left.empty()) return false;
    const auto begin = std::ranges::find_if(left, [](std::byte b) { return b != std::byte{0}; });
    const auto zeros = static_cast<std::uint64_t>(begin - left.begin());
    if (zeros < left.size()) {
      const std::uint64_t skip = zeros / tar_block_size * tar_block_size;
      rest_ = left.subspan(skip);
      tar_begin_ = at + skip;
      break;
    }
    if (packed_ && padding > padding_max) refuse("holds nothing but zeros for a gigabyte: a bomb");
  }
  try {
    open_tar();
  } catch (const Error&) {
    if (thrown_) throw;
    refuse(fmt::format("holds something behind its end, at byte {} of the tar, that is neither padding nor another tar",
                       tar_begin_));
  }
  return true;
}

// Behind the compressed stream.
void ArchiveStream::refuse_rest() {
  if (!packed_) return;
  const auto used = static_cast<std::uint64_t>(archive_filter_bytes(packed_.get(), -1));
  offset_ = used;
  while (const std::size_t n = read_source(source_block_)) {
    if (!is_padding(std::span(source_block_).first(n)))
      refuse(fmt::format("holds something behind its compressed stream, from byte {} on, that is no padding", used));
  }
}

archive_entry* ArchiveStream::next() {
  for (;;) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(archive_.get(), &entry);
    // A warning is about names and times, which are looked at where they are used.
    if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return entry;
    if (code != ARCHIVE_EOF) fail(archive_.get());
    if (!tar_block_.empty() && open_joined()) continue;
    refuse_rest();
    return nullptr;
  }
}

std::optional<ArchiveStream::Block> ArchiveStream::next_block() {
  const void* block = nullptr;
  std::size_t length = 0;
  la_int64_t offset = 0;
  const int code = archive_read_data_block(archive_.get(), &block, &length, &offset);
  if (code == ARCHIVE_EOF) return std::nullopt;
  if (code != ARCHIVE_OK) fail(archive_.get());  // a warning is a wrong checksum or length
  return Block{static_cast<std::uint64_t>(offset), {static_cast<const std::byte*>(block), length}};
}

std::size_t ArchiveStream::read_source(std::span<std::byte> into) {
  const std::size_t n = read_(offset_, into);
  for (auto mark = std::ranges::lower_bound(marks_, offset_); mark != marks_.end() && *mark < offset_ + n; ++mark)
    into[*mark - offset_] &= std::byte{0xF7};
  offset_ += n;
  seen_ = std::max(seen_, offset_);
  return n;
}

// A whole number of the tar's blocks, but for the last: so what its reader leaves stands in one piece.
std::span<const std::byte> ArchiveStream::next_of_tar() {
  given_ = std::exchange(rest_, {});
  std::size_t have = 0;
  while (given_.empty() && have < tar_block_.size()) {
    const auto room = std::span(tar_block_).subspan(have);
    const la_ssize_t n = packed_ ? archive_read_data(packed_.get(), room.data(), room.size())
                                 : static_cast<la_ssize_t>(read_source(room));
    if (n < 0) fail(packed_.get());
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  if (given_.empty()) given_ = std::span(tar_block_).first(have);
  given_bytes_ += given_.size();
  return given_;
}

std::uint64_t ArchiveStream::drain() {
  const std::uint64_t before = std::exchange(offset_, seen_);
  while (read_source(source_block_) > 0) {}
  offset_ = before;
  return seen_;
}

// libarchive's words are all that tells the causes apart.
void ArchiveStream::fail(archive* a) {
  if (thrown_) std::rethrow_exception(thrown_);
  const char* text = archive_error_string(a);
  const std::string said = printable(text == nullptr ? "unknown error" : text);
  const auto says = [&](std::string_view word) { return said.find(word) != said.npos; };
  std::string why;
  std::string hint =
      "known are tar (plain, gzip, zstd, xz, bzip2) and zip; if it is none of these its type in the recipe is `file`";
  if (says("assphrase") || says("ncrypt")) {
    why = "it is locked with a password, and SABATH asks for none: ";
    hint =
        "fetch it as a `file` (its type in the recipe), and unpack it by `7z x`, which asks for the password; or ask "
        "its publisher for one without";
  } else if (says("deflation-64") || says("deflate64")) {
    why = "it is packed by Deflate64, which is not read: ";
    hint =
        "ask its publisher to pack it by Deflate (`zip -r`); or fetch it as a `file` (its type in the recipe), and "
        "unpack it by `7z x`";
  }
  throw Error(FailureKind::invalid, fmt::format("cannot unpack {}: {}{}", name_, why, said), std::move(hint));
}

void ArchiveStream::refuse(const std::string& why) const {
  throw Error(FailureKind::invalid, fmt::format("the archive {} {}", name_, why),
              "nothing of it was kept; tell its publisher. As a `file` in the recipe it can be had as it is");
}

}  // namespace sabath
