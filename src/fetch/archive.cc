#include "fetch/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <unordered_map>
#include <utility>

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
  std::uint64_t seen = 0;  // [0, seen) has been read
  std::vector<std::byte> block = std::vector<std::byte>(block_size);
  std::exception_ptr thrown{};

  std::size_t next() {
    const std::size_t n = read(offset, block);
    offset += n;
    seen = std::max(seen, offset);
    return n;
  }
  // Reads the rest, so that a truncated or padded source is seen wholly; the length of it all.
  std::uint64_t drain() {
    const std::uint64_t before = std::exchange(offset, seen);
    while (next() > 0) {}
    offset = before;
    return seen;
  }
};

la_ssize_t on_read(archive*, void* data, const void** buffer) {
  auto& source = *static_cast<Source*>(data);
  try {
    const std::size_t n = source.next();
    *buffer = source.block.data();
    return static_cast<la_ssize_t>(n);
  } catch (...) {
    source.thrown = std::current_exception();
    return -1;
  }
}

la_int64_t on_seek(archive*, void* data, la_int64_t offset, int whence) {
  auto& source = *static_cast<Source*>(data);
  try {
    const std::uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.offset : source.drain();
    const auto to = static_cast<la_int64_t>(base) + offset;
    if (to < 0) return ARCHIVE_FATAL;
    source.offset = static_cast<std::uint64_t>(to);
    return to;
  } catch (...) {
    source.thrown = std::current_exception();
    return ARCHIVE_FATAL;
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
      : name_(name), source_{read}, store_(store), space_(space), stop_(std::move(stop)) {}
  ~Unpacker() { space_.give_back(reserved_bytes_, reserved_inodes_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

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
    source_.drain();
    reserved_bytes_ = reserved_inodes_ = 0;
    return std::move(result_);
  }

 private:
  void open() {
    archive_.reset(archive_read_new());
    archive* a = archive_.get();
    if (is_zip()) {
      // What a zip holds stands at its end: what stands before may be deleted, and has neither symlinks nor modes.
      archive_read_support_format_zip_seekable(a);
      archive_read_set_seek_callback(a, on_seek);
    } else {
      archive_read_support_format_tar(a);
      // Not all filters: some of libarchive's are programs that it starts.
      for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                                 archive_read_support_filter_xz, archive_read_support_filter_zstd}) {
        support(a);
      }
    }
    if (archive_read_open(a, &source_, nullptr, on_read, nullptr) != ARCHIVE_OK) fail();
  }

  bool is_zip() {
    std::array<std::byte, 4> magic{};
    for (std::size_t have = 0; have < magic.size();) {
      const std::size_t n = source_.read(have, std::span(magic).subspan(have));
      if (n == 0) return false;
      have += n;
    }
    const std::string_view text(reinterpret_cast<const char*>(magic.data()), magic.size());
    return text == "PK\3\4" || text == "PK\5\6";
  }

  void take(archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    if (raw == nullptr) raw = archive_entry_pathname_utf8(entry);
    if (raw == nullptr) refuse(fmt::format("has an entry, after {} others, whose name is no text", taken_));
    ++taken_;
    const auto path = path_in_archive(raw);
    if (!path) return;
    if (const char* link = archive_entry_hardlink(entry)) return take_hard_link(*path, link);
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR) {
      add({*path, EntryType::directory, {}, {}});
    } else if (type == AE_IFLNK) {
      const char* target = archive_entry_symlink(entry);
      if (target == nullptr || !symlink_stays_inside(*path, target)) {
        refuse(fmt::format("holds a symlink that leaves it: {} -> {}", printable(path->text()),
                           printable(target == nullptr ? "" : target)));
      }
      add({*path, EntryType::symlink, {}, target});
    } else if (type == AE_IFREG) {
      take_file(entry, *path);
    } else {
      refuse(fmt::format("holds {}, which is neither a file, a directory nor a symlink", printable(path->text())));
    }
  }

  void take_file(archive_entry* entry, const RelativePath& path) {
    space_.reserve(0, 1, name_);
    ++reserved_inodes_;
    auto writer = store_.write_object();
    const void* block = nullptr;
    std::size_t length = 0;
    la_int64_t offset = 0;
    std::uint64_t written = 0;
    for (;;) {
      const int code = archive_read_data_block(archive_.get(), &block, &length, &offset);
      if (code == ARCHIVE_EOF) break;
      if (code != ARCHIVE_OK) fail();  // a warning is a wrong checksum or length
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
    const bool executable = (archive_entry_perm(entry) & 0111) != 0;
    add({path, executable ? EntryType::executable : EntryType::file, tree, {}});
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
    if (unpacked_ > ratio_free && unpacked_ / ratio_max > source_.seen) {
      refuse(fmt::format("grows more than {} times when it is unpacked", ratio_max));
    }
    space_.reserve(bytes, 0, name_);
    reserved_bytes_ += bytes;
  }

  void take_hard_link(const RelativePath& path, const char* target) {
    const auto to = path_in_archive(target);
    if (to == path) return;  // as tar writes a name that it was given twice
    const auto found = to ? names_.find(to->text()) : names_.end();
    if (found == names_.end() || !is_file(found->second)) {
      refuse(fmt::format("holds a hard link to what is not before it: {} -> {}", printable(path.text()),
                         printable(target)));
    }
    UnpackedEntry same = result_.entries[found->second];
    same.path = path;
    add(std::move(same));
  }

  [[nodiscard]] bool is_file(std::size_t index) const {
    if (index == implied) return false;
    const EntryType type = result_.entries[index].type;
    return type == EntryType::file || type == EntryType::executable;
  }
  [[nodiscard]] bool is_directory(std::size_t index) const {
    return index == implied || result_.entries[index].type == EntryType::directory;
  }

  // Each name stands for one thing, and only directories have names below them.
  void add(UnpackedEntry entry) {
    for (std::string_view above = entry.path.parent(); !above.empty(); above = parent(above)) {
      const auto [found, fresh] = names_.try_emplace(std::string(above), implied);
      if (!is_directory(found->second)) {
        refuse(fmt::format("holds {}, below what is no directory", printable(entry.path.text())));
      }
      if (!fresh) break;
    }
    const auto [found, fresh] = names_.try_emplace(entry.path.text(), result_.entries.size());
    if (!fresh) {
      if (entry.type != EntryType::directory || !is_directory(found->second)) {
        refuse(fmt::format("holds {} twice", printable(entry.path.text())));
      }
      if (found->second != implied) return;
      found->second = result_.entries.size();
    }
    result_.entries.push_back(std::move(entry));
  }

  static std::string_view parent(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }

  std::optional<RelativePath> path_in_archive(const char* name) {
    try {
      return archive_path(name);
    } catch (const Error& error) {
      refuse(fmt::format("holds an {}", error.what()));  // "unsafe path ..."
    }
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
  static constexpr std::size_t implied = SIZE_MAX;      // a directory that is only the beginning of other names
  std::unordered_map<std::string, std::size_t> names_;  // -> entry
  std::uint64_t reserved_bytes_ = 0, reserved_inodes_ = 0;
  std::uint64_t unpacked_ = 0, taken_ = 0;
  Unpacked result_;
};

}  // namespace

std::optional<RelativePath> archive_path(std::string_view name) {
  if (name.starts_with('/')) return RelativePath::parse(name);  // refuses it
  std::string path;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (!part.empty() && part != ".") {
      if (!path.empty()) path += '/';
      path += part;
    }
    begin = end + 1;
  }
  if (path.empty()) return std::nullopt;
  return RelativePath::parse(path);
}

Unpacked unpack_archive(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space,
                        std::stop_token stop) {
  return Unpacker(name, read, store, space, std::move(stop)).run();
}

}  // namespace sabath
