#include "fetch/archives/archive.h"

#include <archive_entry.h>

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/text.h"
#include "fetch/decide/archive_names.h"
#include "fetch/transfer/hash_group.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t ratio_max = 2000;         // of unpacked to packed bytes ...
constexpr std::uint64_t ratio_free = 1ULL << 30;  // ... once more than this came out

class Unpacker {
 public:
  Unpacker(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space, std::stop_token stop)
      : name_(name),
        stream_(name, read),
        store_(store),
        space_(space),
        stop_(std::move(stop)),
        names_(name, stream_.is_tar()) {}
  ~Unpacker() { space_.give_back(reserved_bytes_, reserved_inodes_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  Unpacked run() {
    while (archive_entry* entry = stream_.next()) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      if (result_.entries.size() >= archive_entries_max)
        refuse(fmt::format("has more than {} entries", archive_entries_max));
      take(entry);
    }
    settle_small();
    stream_.drain();
    reserved_bytes_ = reserved_inodes_ = 0;
    return std::move(result_);
  }

 private:
  using Write = std::function<void(std::span<const std::byte>)>;

  void take(archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    if (raw == nullptr) raw = archive_entry_pathname_utf8(entry);
    if (raw == nullptr) refuse(fmt::format("has an entry, after {} others, whose name is no text", taken_));
    ++taken_;
    const auto path = names_.path(raw);
    if (!path) return;
    if (const char* link = archive_entry_hardlink(entry)) return take_hard_link(*path, link);
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR) {
      add({*path, EntryType::directory, {}, {}});
    } else if (type == AE_IFLNK) {
      const char* target = archive_entry_symlink(entry);
      names_.check_symlink(*path, target == nullptr ? "" : target);
      add({*path, EntryType::symlink, {}, target});
    } else if (type == AE_IFREG) {
      take_file(entry, *path);
    } else {
      refuse(fmt::format("holds {}, which is neither a file, a directory nor a symlink", printable(path->text())));
    }
  }

  void take_file(archive_entry* entry, const RelativePath& path) {
    reserve_inode(entry);
    ++result_.files;
    const bool executable = (archive_entry_perm(entry) & 0111) != 0;
    const EntryType type = executable ? EntryType::executable : EntryType::file;
    if (result_.packs &&
        says_at_most(entry, std::min<std::uint64_t>(HashGroup::content_max, store_.pack_threshold()))) {
      const std::size_t number = add({path, type, {}, {}});
      small_.expect();
      auto content = small_.spare();
      read_file(entry, path, [&](auto bytes) { content.insert(content.end(), bytes.begin(), bytes.end()); });
      small_.add(number, std::move(content));
      if (small_.due()) settle_small();
      return;
    }
    auto writer = store_.write_object(result_.files);
    read_file(entry, path, [&](auto bytes) { writer->write(bytes); });
    const FileTree& tree = writer->finish();
    add({path, type, tree, {}});
    const auto kept = writer->kept();
    if (!kept) return result_.objects.push_back(std::move(writer));
    if (!result_.packs) begin_packs();
    pack({{PackStream::Content{tree.digest, *kept}}});
  }

  void read_file(archive_entry* entry, const RelativePath& path, const Write& write) {
    const bool sized = archive_entry_size_is_set(entry) != 0;
    const std::uint64_t size = sized ? static_cast<std::uint64_t>(archive_entry_size(entry)) : UINT64_MAX;
    std::uint64_t written = 0;
    while (const auto block = stream_.next_block()) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      const auto [begin, bytes] = *block;
      if (begin < written) refuse(fmt::format("holds overlapping data in {}", printable(path.text())));
      pad(write, begin - written);
      written = begin + bytes.size();
      if (written > size) refuse(fmt::format("holds more of {} than it says", printable(path.text())));
      count(bytes.size());
      write(bytes);
    }
    if (sized) pad(write, size - written);  // a sparse file may end in a hole, which is no block
  }

  // The small ones of many are hashed side by side.
  void settle_small() {
    auto [contents, digests] = small_.hash();
    std::vector<PackStream::Content> hashed;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      result_.entries[contents[i].index].tree = one_chunk_tree(digests[i]);
      hashed.push_back({digests[i], contents[i].bytes});
    }
    if (!hashed.empty()) pack(hashed);
    small_.done_with(std::move(contents));
  }

  // A file that goes into a pack needs no inode.
  void reserve_inode(archive_entry* entry) {
    if (result_.packs && says_at_most(entry, store_.pack_threshold())) return;
    space_.reserve(0, 1, name_);
    ++reserved_inodes_;
  }

  // There are many files: what is small of those before goes with the others.
  void begin_packs() {
    result_.packs.emplace(store_);
    std::erase_if(result_.objects, [this](const auto& writer) {
      const Digest& digest = writer->tree().digest;
      if (digest.size_bytes > store_.pack_threshold()) return false;
      const auto content = writer->content();
      pack({{PackStream::Content{digest, content}}});
      return true;
    });
  }

  void pack(std::span<const PackStream::Content> contents) {
    if (result_.packs->add(contents)) result_.packs->seal_full();
  }

  static bool says_at_most(archive_entry* entry, std::uint64_t bytes) {
    return archive_entry_size_is_set(entry) && static_cast<std::uint64_t>(archive_entry_size(entry)) <= bytes;
  }

  // A hole of a sparse file.
  void pad(const Write& write, std::uint64_t zeros) {
    static const std::vector<std::byte> nothing(leaf_size_bytes);
    count(zeros);  // before they are written
    for (std::uint64_t left = zeros; left > 0;) {
      const auto part = std::min<std::uint64_t>(left, nothing.size());
      write(std::span(nothing).first(part));
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
    const auto file = names_.linked(path, target);
    if (!file) return;
    settle_small();  // it may be one of them
    UnpackedEntry same = result_.entries[*file];
    same.path = path;
    if (same.type == EntryType::symlink) names_.check_symlink(path, same.target);
    add(std::move(same));
  }

  std::size_t add(UnpackedEntry entry) {
    const std::size_t number = names_.add(entry.path, entry.type, result_.entries.size());
    if (number == result_.entries.size()) {
      result_.entries.push_back(std::move(entry));
    } else if (entry.type != EntryType::directory) {
      settle_small();  // the older one may be one of them
      result_.entries[number] = std::move(entry);
    }
    return number;
  }

  [[noreturn]] void refuse(const std::string& why) const { names_.refuse(why); }

  const std::string& name_;
  ArchiveStream stream_;
  Store& store_;
  SpaceGuard& space_;
  std::stop_token stop_;
  ArchiveNames names_;
  std::uint64_t reserved_bytes_ = 0, reserved_inodes_ = 0;
  std::uint64_t unpacked_ = 0, taken_ = 0;
  HashGroup small_;
  Unpacked result_;
};

}  // namespace

Unpacked unpack_archive(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space,
                        std::stop_token stop) {
  return Unpacker(name, read, store, space, std::move(stop)).run();
}

}  // namespace sabath
