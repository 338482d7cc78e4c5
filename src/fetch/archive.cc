#include "fetch/archive.h"

#include <archive_entry.h>

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t entries_max = 20'000'000;
constexpr std::uint64_t ratio_max = 2000;         // of unpacked to packed bytes ...
constexpr std::uint64_t ratio_free = 1ULL << 30;  // ... once more than this came out

class Unpacker {
 public:
  Unpacker(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space, std::stop_token stop)
      : name_(name), stream_(name, read), store_(store), space_(space), stop_(std::move(stop)) {}
  ~Unpacker() { space_.give_back(reserved_bytes_, reserved_inodes_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  Unpacked run() {
    while (archive_entry* entry = stream_.next()) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      if (result_.entries.size() >= entries_max) refuse(fmt::format("has more than {} entries", entries_max));
      take(entry);
    }
    stream_.drain();
    reserved_bytes_ = reserved_inodes_ = 0;
    return std::move(result_);
  }

 private:
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
    std::uint64_t written = 0;
    while (const auto block = stream_.next_block()) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      const auto [begin, bytes] = *block;
      if (begin < written) refuse(fmt::format("holds overlapping data in {}", printable(path.text())));
      pad(*writer, begin - written);
      count(bytes.size());
      writer->write(bytes);
      written = begin + bytes.size();
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
    if (unpacked_ > ratio_free && unpacked_ / ratio_max > stream_.seen()) {
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

  const std::string& name_;
  ArchiveStream stream_;
  Store& store_;
  SpaceGuard& space_;
  std::stop_token stop_;
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
