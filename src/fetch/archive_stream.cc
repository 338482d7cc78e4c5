#include "fetch/archive_stream.h"

#include <archive.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

namespace {
constexpr std::size_t block_size = 1 << 20;
}

struct ArchiveStream::Callbacks {
  static la_ssize_t read(archive*, void* data, const void** buffer) {
    auto& stream = *static_cast<ArchiveStream*>(data);
    try {
      const std::size_t n = stream.read_block();
      *buffer = stream.block_.data();
      return static_cast<la_ssize_t>(n);
    } catch (...) {
      stream.thrown_ = std::current_exception();
      return -1;
    }
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

// libarchive turns names into the thread's character set, and loses those that have no place in it: so this thread has
// UTF-8 for as long as it reads names.
class ArchiveStream::Utf8Names {
 public:
  Utf8Names() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_ != nullptr) before_ = uselocale(utf8_);
  }
  ~Utf8Names() {
    if (utf8_ == nullptr) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_, before_ = nullptr;
};

void ArchiveStream::Free::operator()(archive* a) const noexcept { archive_read_free(a); }

ArchiveStream::ArchiveStream(const std::string& name, const ReadAt& read)
    : name_(name),
      read_(read),
      block_(block_size),
      names_(std::make_unique<Utf8Names>()),
      archive_(archive_read_new()) {
  open();
}

ArchiveStream::~ArchiveStream() = default;

void ArchiveStream::open() {
  archive* a = archive_.get();
  if (is_zip()) {
    // What a zip holds stands at its end: what stands before may be deleted, and has neither symlinks nor modes.
    archive_read_support_format_zip_seekable(a);
    archive_read_set_seek_callback(a, Callbacks::seek);
  } else {
    archive_read_support_format_tar(a);
    // Not all filters: some of libarchive's are programs that it starts.
    for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                               archive_read_support_filter_xz, archive_read_support_filter_zstd}) {
      support(a);
    }
  }
  if (archive_read_open(a, this, nullptr, Callbacks::read, nullptr) != ARCHIVE_OK) fail();
}

bool ArchiveStream::is_zip() {
  std::array<std::byte, 4> magic{};
  for (std::size_t have = 0; have < magic.size();) {
    const std::size_t n = read_(have, std::span(magic).subspan(have));
    if (n == 0) return false;
    have += n;
  }
  const std::string_view text(reinterpret_cast<const char*>(magic.data()), magic.size());
  return text == "PK\3\4" || text == "PK\5\6";
}

archive_entry* ArchiveStream::next() {
  archive_entry* entry = nullptr;
  const int code = archive_read_next_header(archive_.get(), &entry);
  if (code == ARCHIVE_EOF) return nullptr;
  if (code < ARCHIVE_WARN) fail();  // a warning is about names and times, which are looked at where they are used
  return entry;
}

std::optional<ArchiveStream::Block> ArchiveStream::next_block() {
  const void* block = nullptr;
  std::size_t length = 0;
  la_int64_t offset = 0;
  const int code = archive_read_data_block(archive_.get(), &block, &length, &offset);
  if (code == ARCHIVE_EOF) return std::nullopt;
  if (code != ARCHIVE_OK) fail();  // a warning is a wrong checksum or length
  return Block{static_cast<std::uint64_t>(offset), {static_cast<const std::byte*>(block), length}};
}

std::size_t ArchiveStream::read_block() {
  const std::size_t n = read_(offset_, block_);
  offset_ += n;
  seen_ = std::max(seen_, offset_);
  return n;
}

std::uint64_t ArchiveStream::drain() {
  const std::uint64_t before = std::exchange(offset_, seen_);
  while (read_block() > 0) {}
  offset_ = before;
  return seen_;
}

void ArchiveStream::fail() {
  if (thrown_) std::rethrow_exception(thrown_);
  const char* text = archive_error_string(archive_.get());
  throw Error(FailureKind::invalid,
              fmt::format("cannot unpack {}: {}", name_, printable(text == nullptr ? "unknown error" : text)),
              "known are tar (plain, gzip, zstd, xz, bzip2) and zip; if it is none of these its type in the recipe "
              "is `file`");
}

}  // namespace sabath
