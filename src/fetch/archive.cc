#include "fetch/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <array>
#include <exception>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t entries_max = 20'000'000;
constexpr std::uint64_t ratio_max = 2000;         // of unpacked to packed bytes ...
constexpr std::uint64_t ratio_free = 1ULL << 30;  // ... once more than this came out
constexpr std::size_t block_size = 1 << 20;

// libarchive's callbacks are C: what they throw waits here until we are back in C++.
struct Source {
  const ReadAt& read;
  std::uint64_t offset = 0;
  std::vector<std::byte> block = std::vector<std::byte>(block_size);
  std::exception_ptr thrown;
};

la_ssize_t on_read(archive*, void* data, const void** buffer) {
  auto& source = *static_cast<Source*>(data);
  try {
    const std::size_t n = source.read(source.offset, source.block);
    source.offset += n;
    *buffer = source.block.data();
    return static_cast<la_ssize_t>(n);
  } catch (...) {
    source.thrown = std::current_exception();
    return -1;
  }
}

struct CloseArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

// libarchive turns names into the thread's character set, and loses those that have no place in it: so this thread has
// UTF-8 for as long as it reads names.
class Utf8Names {
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

class Unpacker {
 public:
  Unpacker(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space, std::stop_token stop)
      : name_(name),
        source_{read, 0, std::vector<std::byte>(block_size), {}},
        store_(store),
        space_(space),
        stop_(std::move(stop)) {}

  Unpacked run() {
    const Utf8Names utf8;
    open();
    archive_entry* entry = nullptr;
    for (;;) {
      const int code = archive_read_next_header(archive_.get(), &entry);
      if (code == ARCHIVE_EOF) break;
      if (code < ARCHIVE_WARN) fail();
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      if (result_.entries.size() >= entries_max) refuse(fmt::format("has more than {} entries", entries_max));
      take(entry);
    }
    drain();
    return std::move(result_);
  }

 private:
  void open() {
    archive_.reset(archive_read_new());
    archive_read_support_filter_all(archive_.get());
    for (const auto support : {archive_read_support_format_tar, archive_read_support_format_gnutar,
                               archive_read_support_format_zip_streamable}) {
      support(archive_.get());
    }
    if (archive_read_open(archive_.get(), &source_, nullptr, on_read, nullptr) != ARCHIVE_OK) fail();
  }

  void take(archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    if (raw == nullptr) raw = archive_entry_pathname_utf8(entry);
    if (raw == nullptr) refuse(fmt::format("has an entry, after {} others, whose name is no text", taken_));
    ++taken_;
    const auto path = archive_path(raw);
    if (!path) return;
    if (const char* link = archive_entry_hardlink(entry)) return take_hard_link(*path, link);
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR) {
      result_.entries.push_back({*path, EntryType::directory, {}, {}});
    } else if (type == AE_IFLNK) {
      const char* target = archive_entry_symlink(entry);
      if (target == nullptr || !symlink_stays_inside(*path, target)) {
        refuse(fmt::format("holds a symlink that leaves it: {} -> {}", printable(path->text()),
                           printable(target == nullptr ? "" : target)));
      }
      result_.entries.push_back({*path, EntryType::symlink, {}, target});
    } else if (type == AE_IFREG) {
      take_file(entry, *path);
    } else {
      refuse(fmt::format("holds {}, which is neither a file, a directory nor a symlink", printable(path->text())));
    }
  }

  void take_file(archive_entry* entry, const RelativePath& path) {
    space_.reserve(0, 1, name_);
    auto writer = store_.write_object();
    const void* block = nullptr;
    std::size_t length = 0;
    la_int64_t offset = 0;
    std::uint64_t written = 0;
    for (;;) {
      const int code = archive_read_data_block(archive_.get(), &block, &length, &offset);
      if (code == ARCHIVE_EOF) break;
      if (code < ARCHIVE_WARN) fail();
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      const auto begin = static_cast<std::uint64_t>(offset);
      if (begin < written) refuse(fmt::format("holds overlapping data in {}", printable(path.text())));
      pad(*writer, begin - written);
      count(length);
      writer->write({static_cast<const std::byte*>(block), length});
      written = begin + length;
    }
    if (archive_entry_size_is_set(entry)) {  // a sparse file may end in a hole, which is no block
      const auto size = static_cast<std::uint64_t>(archive_entry_size(entry));
      if (written > size) refuse(fmt::format("holds more of {} than it says", printable(path.text())));
      pad(*writer, size - written);
    }
    const FileTree& tree = writer->finish();
    files_[path.text()] = result_.entries.size();
    const bool executable = (archive_entry_perm(entry) & 0111) != 0;
    result_.entries.push_back({path, executable ? EntryType::executable : EntryType::file, tree, {}});
    result_.objects.push_back(std::move(writer));
  }

  // A hole of a sparse file.
  void pad(ObjectWriter& writer, std::uint64_t zeros) {
    static const std::vector<std::byte> nothing(leaf_size_bytes);
    count(zeros);  // before they are written
    for (std::uint64_t left = zeros; left > 0;) {
      const auto part = std::min<std::uint64_t>(left, nothing.size());
      writer.write(std::span(nothing).first(part));
      left -= part;
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    }
  }

  void count(std::uint64_t bytes) {
    unpacked_ += bytes;
    if (unpacked_ > ratio_free && unpacked_ / ratio_max > source_.offset) {
      refuse(fmt::format("grows more than {} times when it is unpacked", ratio_max));
    }
    space_.reserve(bytes, 0, name_);
  }

  void take_hard_link(const RelativePath& path, const char* target) {
    const auto to = archive_path(target);
    const auto found = to ? files_.find(to->text()) : files_.end();
    if (found == files_.end()) {
      refuse(fmt::format("holds a hard link to what is not before it: {} -> {}", printable(path.text()),
                         printable(target)));
    }
    UnpackedEntry same = result_.entries[found->second];
    same.path = path;
    files_[path.text()] = result_.entries.size();
    result_.entries.push_back(std::move(same));
  }

  // Reads what stands behind the archive's end, so that a truncated or padded source is seen wholly.
  void drain() {
    while (const std::size_t n = source_.read(source_.offset, source_.block)) source_.offset += n;
  }

  [[noreturn]] void refuse(const std::string& why) {
    throw Error(FailureKind::invalid, fmt::format("the archive {} {}", name_, why),
                "nothing of it was kept; tell its publisher");
  }

  [[noreturn]] void fail() {
    if (source_.thrown) std::rethrow_exception(source_.thrown);
    const char* text = archive_error_string(archive_.get());
    throw Error(FailureKind::invalid,
                fmt::format("cannot unpack {}: {}", name_, printable(text == nullptr ? "unknown error" : text)),
                "known are tar (plain, gzip, zstd, xz, bzip2) and zip; if it is none of these its type in the recipe "
                "is `file`");
  }

  const std::string& name_;
  Source source_;
  Store& store_;
  SpaceGuard& space_;
  std::stop_token stop_;
  std::unique_ptr<archive, CloseArchive> archive_;
  std::unordered_map<std::string, std::size_t> files_;  // path -> entry, for hard links
  std::uint64_t unpacked_ = 0, taken_ = 0;
  Unpacked result_;
};

}  // namespace

std::optional<RelativePath> archive_path(std::string_view name) {
  while (name.starts_with("./")) {
    name.remove_prefix(2);
    while (name.starts_with('/')) name.remove_prefix(1);
  }
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  if (name.empty() || name == ".") return std::nullopt;
  return RelativePath::parse(name);
}

Unpacked unpack_archive(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space,
                        std::stop_token stop) {
  return Unpacker(name, read, store, space, std::move(stop)).run();
}

}  // namespace sabath
