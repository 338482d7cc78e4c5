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
#include "formats/zip_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

namespace {

constexpr std::size_t block_size = 1 << 20;
constexpr std::uint64_t padding_max = 1ULL << 30;  // of what was packed: more is a bomb

// The second byte of the flags of each name in UTF-8: in the directory, and in the header before the content. The names
// in both are one.
std::vector<std::uint64_t> marks_in(const ZipDirectory& directory) {
  constexpr unsigned utf8 = 0x800;
  std::vector<std::uint64_t> places;
  directory.for_each([&](const ZipEntry& entry) {
    static_cast<void>(directory.content_offset(entry.name, entry.method, entry.header_offset));
    if ((entry.flags & utf8) == 0) return;
    places.push_back(entry.entry_offset + 9);
    places.push_back(entry.header_offset + 7);
  });
  std::ranges::sort(places);
  return places;
}

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
// One that Python or others would read otherwise is refused: what is unpacked here is what they would have unpacked.
void ArchiveStream::open_zip() {
  constexpr std::uint64_t marker_size = 4;  // "PK00" or "PK\7\8", of a zip that was to be split
  const std::uint64_t size = drain();
  const auto directory = ZipDirectory::find(read_, size, name_);
  if (directory) {
    if (directory->before() > marker_size)
      refuse(fmt::format("begins with {} bytes that its directory does not know: another zip, it seems, joined to it",
                         directory->before()));
    if (directory->behind() > 0)
      refuse(fmt::format("holds {} bytes behind its end, which its directory does not know", directory->behind()));
    marks_ = marks_in(*directory);
  }
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
  } else if (says("too much memory")) {
    why = "its window is larger than is unpacked here: ";
    hint = "fetch it as a `file` (its type in the recipe), and unpack it by zstd's own program with a longer window";
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
