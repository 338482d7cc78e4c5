// Two directories side by side, each as a stack of nodes not yet read and entries not yet compared. A node is read only
// when the other side has no equal one, so the time follows what changed.
#include <algorithm>
#include <variant>

#include "manifest/nodes.h"
#include "manifest/tree_reader.h"

namespace sabath {
namespace {

using Visit = std::function<void(const Difference&)>;

bool same(const TreeItem& a, const TreeItem& b) {
  return a.type == b.type && a.digest == b.digest && a.target == b.target;
}
bool is_directory(const TreeItem& item) { return item.type == EntryType::directory; }
bool is_empty_directory(const TreeItem& item) {
  return is_directory(item) && item.below.files + item.below.directories + item.below.symlinks == 0;
}
bool is_leaf(const TreeItem& item) { return !is_directory(item) || is_empty_directory(item); }

// The entries of one directory in order, read as late as possible.
class Side {
 public:
  Side(const NodeFile& pack, std::optional<TreeRef> top) : pack_(pack) {
    if (top) nodes_.push_back(std::move(*top));
  }

  // In front stands an entry, or a node not yet read, or nothing.
  [[nodiscard]] const TreeItem* item() const { return next_ < page_.items.size() ? &page_.items[next_] : nullptr; }
  [[nodiscard]] const TreeRef* node() const { return !item() && !nodes_.empty() ? &nodes_.back() : nullptr; }
  [[nodiscard]] bool done() const { return !item() && nodes_.empty(); }

  void pop() { item() ? static_cast<void>(++next_) : nodes_.pop_back(); }

  void read() {  // the node in front
    const TreeRef ref = std::move(nodes_.back());
    nodes_.pop_back();
    TreeNode node = load_tree_node(pack_, ref);
    for (std::size_t i = node.children.size(); i-- > 0;) nodes_.push_back(child_ref(ref, node, i));
    page_ = std::move(node);
    next_ = 0;
  }

 private:
  const NodeFile& pack_;
  std::vector<TreeRef> nodes_;  // the next one last
  TreeNode page_;
  std::size_t next_ = 0;
};

// The side whose node must be read next, when at least one has a node in front and they are not equal.
enum class Read { before, after, both };
Read choose(const TreeRef* before, const TreeRef* after) {
  if (!after) return Read::before;
  if (!before) return Read::after;
  if (!before->level || !after->level) return Read::both;  // tops: their levels are not known yet
  if (*before->level != *after->level) return *before->level > *after->level ? Read::before : Read::after;
  if (before->key != after->key) return before->key < after->key ? Read::before : Read::after;
  return Read::both;
}

class Comparison {
 public:
  Comparison(const NodeFile& before, const NodeFile& after, const Visit& visit)
      : before_(before), after_(after), visit_(visit) {}

  // An absent side is an empty one: all of the other was removed or added.
  void directories(std::string_view directory, std::optional<TreeRef> before_top, std::optional<TreeRef> after_top) {
    Side before(before_, std::move(before_top)), after(after_, std::move(after_top));
    while (!before.done() || !after.done()) {
      if (!before.node() && !after.node()) {
        front(directory, before, after);
      } else if (before.node() && after.node() && before.node()->hash == after.node()->hash) {
        before.pop();
        after.pop();
      } else if (after.item() && lies_before(*after.item(), *before.node())) {
        entries(directory, nullptr, after.item());
        after.pop();
      } else if (before.item() && lies_before(*before.item(), *after.node())) {
        entries(directory, before.item(), nullptr);
        before.pop();
      } else {
        const Read side = choose(before.node(), after.node());
        if (side != Read::after) before.read();
        if (side != Read::before) after.read();
      }
    }
  }

 private:
  static bool lies_before(const TreeItem& item, const TreeRef& node) {
    return !node.key.empty() && item.name < node.key;
  }

  // Both have an entry in front, or one has and the other is done.
  void front(std::string_view directory, Side& before, Side& after) {
    const TreeItem *old = before.item(), *now = after.item();
    if (old && now && old->name != now->name) (old->name < now->name ? now : old) = nullptr;
    if (!old || !now || !same(*old, *now)) entries(directory, old, now);
    if (old) before.pop();
    if (now) after.pop();
  }

  // Differences of one name: first the name itself, where it is a leaf, then what is below it.
  void entries(std::string_view directory, const TreeItem* old, const TreeItem* now) {
    const bool old_leaf = old && is_leaf(*old), now_leaf = now && is_leaf(*now);
    if (old_leaf || now_leaf) {
      using enum Difference::Kind;
      Difference difference{old_leaf && now_leaf ? changed : now_leaf ? added : removed, {}, {}};
      if (old_leaf) difference.before = make_entry(directory, *old);
      if (now_leaf) difference.after = make_entry(directory, *now);
      visit_(difference);
    }
    std::optional<TreeRef> old_top, now_top;
    if (old && !old_leaf) old_top = directory_ref(*old);
    if (now && !now_leaf) now_top = directory_ref(*now);
    if (!old_top && !now_top) return;
    const Entry entry = make_entry(directory, old_top ? *old : *now);
    directories(entry.path.text(), std::move(old_top), std::move(now_top));
  }

  const NodeFile &before_, &after_;
  const Visit& visit_;
};

}  // namespace

void diff(const Manifest& before, const Manifest& after, const std::function<void(const Difference&)>& visit) {
  const NodeFile &old = before.nodes().pack, &now = after.nodes().pack;
  Comparison(old, now, visit).directories({}, root_ref(old), root_ref(now));
}

}  // namespace sabath
