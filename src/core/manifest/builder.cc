// Collects entries as fixed-size items whose texts stand in one arena; then sorts them into tree order and writes every
// directory as the walk leaves it. Memory is the list, the table of the pack, and one open node a level.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "manifest/annotations.h"
#include "manifest/file_node.h"
#include "manifest/file_tree.h"
#include "manifest/manifest.h"
#include "manifest/node_file.h"
#include "manifest/tree_writer.h"
#include "sabath/error.h"

namespace sabath {
namespace {

struct Item {
  std::uint64_t text = 0;  // in the arena: the path, then the symlink's target
  std::uint16_t path_size = 0, target_size = 0;
  EntryType type = EntryType::file;
  std::uint64_t size_bytes = 0;
  Sha256 hash;
  std::uint64_t chunks = 0;  // where its chunk layer begins, if it has more than one chunk
};

struct Annotation {
  std::uint64_t text = 0;  // the path, then the checksums as they are written
  std::uint16_t path_size = 0, encoded_size = 0;
};

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error(FailureKind::invalid, std::move(message), std::move(hint));
}

constexpr std::size_t output_buffer_size = 1024 * 1024;

// Removes a file whose writing failed.
struct Unfinished {
  std::filesystem::path file;
  ~Unfinished() {
    std::error_code ignored;  // the failure that is thrown says more
    if (!file.empty()) std::filesystem::remove(file, ignored);
  }
};

}  // namespace

struct ManifestBuilder::State {
  std::string arena;
  std::vector<Item> items;
  std::vector<Sha256> chunks;
  std::vector<Annotation> annotations;
  std::string note;

  [[nodiscard]] std::string_view path(const Item& item) const {
    return std::string_view(arena).substr(item.text, item.path_size);
  }
  [[nodiscard]] std::string_view path(const Annotation& note) const {
    return std::string_view(arena).substr(note.text, note.path_size);
  }
  [[nodiscard]] std::string_view target(const Item& item) const {
    return std::string_view(arena).substr(item.text + item.path_size, item.target_size);
  }
  [[nodiscard]] std::string_view encoded(const Annotation& note) const {
    return std::string_view(arena).substr(note.text + note.path_size, note.encoded_size);
  }
  Item& add(const RelativePath& path, EntryType type);
  void sort();
  [[nodiscard]] std::string encode_annotations() const;
  Sha256 write(const NodeFileWriter::Output& output);
};

Item& ManifestBuilder::State::add(const RelativePath& path, EntryType type) {
  Item& item = items.emplace_back();
  item.text = arena.size();
  item.path_size = static_cast<std::uint16_t>(path.text().size());
  item.type = type;
  arena += path.text();
  return item;
}

// Entries mostly come sorted, and seeing that is much cheaper than sorting.
void ManifestBuilder::State::sort() {
  const auto less = [this](const auto& a, const auto& b) { return tree_order_less(path(a), path(b)); };
  if (!std::ranges::is_sorted(items, less)) std::ranges::sort(items, less);
  if (!std::ranges::is_sorted(annotations, less)) std::ranges::sort(annotations, less);
}

std::string ManifestBuilder::State::encode_annotations() const {
  std::string bytes;
  if (!note.empty()) put_note(bytes, note);
  auto item = items.begin();
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const std::string_view name = path(annotations[i]);
    if (i > 0 && path(annotations[i - 1]) == name) {
      if (encoded(annotations[i - 1]) == encoded(annotations[i])) continue;
      refuse(fmt::format("two different sets of checksums for {}", name), "give each file's checksums once");
    }
    while (item != items.end() && tree_order_less(path(*item), name)) ++item;
    if (item == items.end() || path(*item) != name || item->type == EntryType::directory ||
        item->type == EntryType::symlink) {
      refuse(fmt::format("checksums for {}, which is no file of this asset", name), "name a file that is there");
    }
    put_annotation(bytes, name, encoded(annotations[i]));
  }
  return bytes;
}

namespace {

// The directories from the root to the place of the walk, each open for more entries.
class OpenDirectories {
 public:
  explicit OpenDirectories(NodeFileWriter& pack) : pack_(pack) { open_.push_back({{}, TreeWriter(pack)}); }

  TreeWriter& enter(std::string_view directory) {  // closes the directories that the walk has left
    while (!inside(directory, open_.back().path)) leave();
    while (open_.back().path.size() < directory.size()) {
      const std::size_t above = open_.back().path.size();
      const std::size_t end = directory.find('/', above == 0 ? 0 : above + 1);
      open_.push_back({directory.substr(0, end), TreeWriter(pack_)});
    }
    return open_.back().tree;
  }

  Sha256 finish() {
    while (open_.size() > 1) leave();
    return open_.back().tree.finish().hash;
  }

 private:
  struct Open {
    std::string_view path;
    TreeWriter tree;
  };

  static bool inside(std::string_view path, std::string_view directory) {
    return directory.empty() ||
           (path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/'));
  }

  void leave() {
    const auto [hash, totals] = open_.back().tree.finish();
    const std::string_view path = open_.back().path;
    open_.pop_back();
    const std::string_view above = open_.back().path;
    const std::string_view name = path.substr(above.empty() ? 0 : above.size() + 1);
    open_.back().tree.add({name, EntryType::directory, {ContentKind::tree, totals.bytes, hash}, totals, {}});
  }

  NodeFileWriter& pack_;
  std::vector<Open> open_;
};

void refuse_collision(std::string_view before, bool before_is_directory, std::string_view path) {
  if (path == before)
    refuse(fmt::format("{} appears twice in the asset", path), "each name is allowed once: rename or leave out one");
  if (!before_is_directory && path.size() > before.size() && path.starts_with(before) && path[before.size()] == '/') {
    refuse(fmt::format("{} is no directory, but {} is in it", before, path), "rename or leave out one");
  }
}

}  // namespace

Sha256 ManifestBuilder::State::write(const NodeFileWriter::Output& output) {
  sort();
  const std::string notes = encode_annotations();
  NodeFileWriter pack(output);
  OpenDirectories directories(pack);
  const Item* before = nullptr;
  for (const Item& item : items) {
    const std::string_view name = path(item);
    const bool directory = item.type == EntryType::directory;
    if (before && directory && before->type == item.type && path(*before) == name) continue;
    if (before) refuse_collision(path(*before), before->type == EntryType::directory, name);
    before = &item;
    if (directory) {
      directories.enter(name);
      continue;
    }
    const std::size_t slash = name.rfind('/');
    TreeWriter& tree = directories.enter(slash == std::string_view::npos ? std::string_view() : name.substr(0, slash));
    const std::uint64_t count = chunk_count(item.size_bytes);
    if (count > 1) {
      build_file_nodes(item.size_bytes, std::span(chunks).subspan(item.chunks, count),
                       [&](const Sha256& hash, std::string_view node) { pack.put(hash, node); });
    }
    tree.add({name.substr(slash + 1), item.type, {ContentKind::file, item.size_bytes, item.hash}, {}, target(item)});
  }
  const Sha256 root = directories.finish();
  pack.finish(root, notes);
  return root;
}

ManifestBuilder::ManifestBuilder() : state_(std::make_unique<State>()) {}
ManifestBuilder::~ManifestBuilder() = default;

void ManifestBuilder::add_file(const RelativePath& path, const Digest& digest, std::vector<Sha256> chunks,
                               bool executable) {
  const std::uint64_t count = chunk_count(digest.size_bytes);
  const bool lone = count <= 1 && chunks.empty();  // the digest says it all
  const Sha256 hash = !lone        ? digest_of_chunks(digest.size_bytes, chunks).hash
                      : count == 0 ? digest_of_chunks(0, {}).hash
                                   : digest.hash;
  if (digest.kind != ContentKind::file || hash != digest.hash) {
    refuse(fmt::format("{}: its chunks do not make the digest {}", path.text(), digest.hash.hex()),
           "hash the file again");
  }
  Item& item = state_->add(path, executable ? EntryType::executable : EntryType::file);
  item.size_bytes = digest.size_bytes;
  item.hash = digest.hash;
  item.chunks = state_->chunks.size();
  if (count > 1) state_->chunks.insert(state_->chunks.end(), chunks.begin(), chunks.end());
}

void ManifestBuilder::add_directory(const RelativePath& path) { state_->add(path, EntryType::directory); }

void ManifestBuilder::add_symlink(const RelativePath& path, std::string target) {
  if (target.empty() || target.size() > target_size_max || !symlink_stays_inside(path, target)) {
    refuse(fmt::format("the symlink {} -> {} leaves the asset", path.text(), printable(target)),
           "make it relative, to a target inside the asset, or leave it out");
  }
  Item& item = state_->add(path, EntryType::symlink);
  item.target_size = static_cast<std::uint16_t>(target.size());
  state_->arena += target;
}

void ManifestBuilder::add_checksums(const RelativePath& path, const Checksums& checksums) {
  const std::string encoded = encode_checksums(checksums);
  if (encoded.size() == 1) return;  // none, or git's alone, which no manifest holds
  Annotation& note = state_->annotations.emplace_back();
  note.text = state_->arena.size();
  note.path_size = static_cast<std::uint16_t>(path.text().size());
  note.encoded_size = static_cast<std::uint16_t>(encoded.size());
  state_->arena += path.text();
  state_->arena += encoded;
}

void ManifestBuilder::set_note(std::string note) {
  check_note(note);
  state_->note = std::move(note);
}

void ManifestBuilder::add_all(const Manifest& other, const RelativePath* prefix) {
  const auto moved = [&](const RelativePath& path) { return prefix ? *prefix / path : path; };
  if (prefix) add_directory(*prefix);
  other.for_each([&](const Entry& entry) {
    if (entry.type == EntryType::directory) return add_directory(moved(entry.path));
    if (entry.type == EntryType::symlink) return add_symlink(moved(entry.path), entry.target);
    add_file(moved(entry.path), entry.digest, other.chunks(entry), entry.type == EntryType::executable);
  });
  for (const auto& [path, checksums] : other.checksums()) add_checksums(moved(RelativePath::parse(path)), checksums);
}

Sha256 ManifestBuilder::write(const std::filesystem::path& file) {
  const Fd fd = open_file(file, O_WRONLY | O_CREAT | O_TRUNC);
  Unfinished unfinished{file};
  std::string buffer;
  const auto flush = [&] {
    write_all(fd.get(), std::as_bytes(std::span(buffer)), file);
    buffer.clear();
  };
  const Sha256 root = state_->write([&](std::string_view bytes) {
    buffer += bytes;
    if (buffer.size() >= output_buffer_size) flush();
  });
  flush();
  sync_file(fd.get(), file);
  unfinished.file.clear();
  return root;
}

std::string ManifestBuilder::bytes() {
  std::string bytes;
  state_->write([&](std::string_view more) { bytes += more; });
  return bytes;
}

}  // namespace sabath
