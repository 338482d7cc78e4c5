#include "manifest/manifest.h"

#include <algorithm>

#include "manifest/annotations.h"
#include "manifest/file_node.h"
#include "manifest/nodes.h"
#include "manifest/tree_reader.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {

Manifest::Manifest(std::unique_ptr<Nodes> nodes) : nodes_(std::move(nodes)) {}
Manifest::Manifest(Manifest&&) noexcept = default;
Manifest& Manifest::operator=(Manifest&&) noexcept = default;
Manifest::~Manifest() = default;

Manifest Manifest::open(const std::filesystem::path& file) {
  return Manifest(std::make_unique<Nodes>(Nodes{NodeFile::open(file)}));
}

Manifest Manifest::parse(std::string bytes) {
  return Manifest(std::make_unique<Nodes>(Nodes{NodeFile::parse(std::move(bytes))}));
}

const Sha256& Manifest::root() const noexcept { return nodes_->pack.root(); }

Totals Manifest::totals() const { return load_tree_node(nodes_->pack, root_ref(nodes_->pack)).totals; }

void Manifest::for_each(const std::function<void(const Entry&)>& visit) const {
  const TreeVisitor visitor{[&](const Entry& entry, const TreeItem&) { visit(entry); }, {}};
  walk_tree(nodes_->pack, root_ref(nodes_->pack), {}, visitor);
}

std::optional<Entry> Manifest::find(const RelativePath& path) const { return ManifestLookup(*this).find(path); }

std::vector<Sha256> Manifest::chunks(const Entry& file) const {
  if (!file.is_file()) throw Error(FailureKind::internal, file.path.text() + " is not a file and has no chunks");
  if (file.digest.size_bytes == 0) return {};
  if (file.digest.size_bytes <= chunk_size_bytes) return {file.digest.hash};
  return read_chunk_layer(nodes_->pack, file.digest);
}

std::map<std::string, Checksums> Manifest::checksums() const {
  std::map<std::string, Checksums> all;
  const std::string bytes = nodes_->pack.annotations();
  parse_annotations(bytes, [&](std::string_view path, const Checksums& checksums) {
    all.try_emplace(RelativePath::parse(path).text(), checksums);
  });
  return all;
}

std::string Manifest::note() const {
  const std::string bytes = nodes_->pack.annotations();
  const std::string_view note = first_note(bytes);
  if (!note.empty()) check_note(note);
  return std::string(note);
}

// A page of a directory: level 0, names in order.
struct ManifestLookup::Page {
  std::string directory;
  TreeNode node;
  [[nodiscard]] bool covers(std::string_view in, std::string_view name) const {
    return in == directory && name >= node.items.front().name && name <= node.items.back().name;
  }
  [[nodiscard]] const TreeItem* find(std::string_view name) const {
    const auto item = std::ranges::lower_bound(node.items, name, {}, &TreeItem::name);
    return item == node.items.end() || item->name != name ? nullptr : &*item;
  }
};

ManifestLookup::ManifestLookup(const Manifest& manifest) : manifest_(manifest) {}
ManifestLookup::~ManifestLookup() = default;

std::optional<Entry> ManifestLookup::find(const RelativePath& path) {
  const NodeFile& pack = manifest_.nodes().pack;
  const std::string_view text = path.text();
  if (page_ && page_->covers(path.parent(), path.name())) {
    const TreeItem* item = page_->find(path.name());
    return item == nullptr ? std::nullopt : std::optional(make_entry(path.parent(), *item));
  }
  TreeRef ref = root_ref(pack);
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    TreeNode node = load_tree_node(pack, ref);
    while (node.level > 0) {
      const auto after = std::ranges::upper_bound(node.children, name, {}, &TreeChild::key);
      if (after == node.children.begin()) return std::nullopt;
      ref = child_ref(ref, node, static_cast<std::size_t>(after - node.children.begin()) - 1);
      node = load_tree_node(pack, ref);
    }
    Page page{std::string(text.substr(0, begin == 0 ? 0 : begin - 1)), std::move(node)};
    const TreeItem* item = page.find(name);
    if (item == nullptr) return std::nullopt;
    if (end == text.size()) {
      auto entry = make_entry(path.parent(), *item);
      page_ = std::make_unique<Page>(std::move(page));
      return entry;
    }
    if (item->type != EntryType::directory) return std::nullopt;
    ref = directory_ref(*item);
    begin = end + 1;
  }
}

}  // namespace sabath
