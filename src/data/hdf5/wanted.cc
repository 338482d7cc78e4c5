#include "hdf5/wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/wording.h"
#include "hdf5/tree.h"
#include "sabath/path.h"

namespace sabath::h5 {
namespace {

std::string hint_of(const Source& source, const std::string& path) {
  std::vector<std::string> datasets;
  walk(source, [&](const Node& node) {
    if (node.kind == NodeKind::dataset || node.kind == NodeKind::group) datasets.push_back(node.path);
  });
  if (const auto near = nearest(path, datasets)) return fmt::format("did you mean {}?", printable(*near));
  return fmt::format("`{}` shows what is in the file", verb_text("hdf5 inspect"));
}

// Each component is looked at, so that a link out of the file is named and not reported as damage.
H5O_type_t type_at(const Source& source, const std::string& path) {
  const std::string label = source.label(path);
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    if (prefix != "/") {
      if (checked(H5Lexists(source.id(), prefix.c_str(), H5P_DEFAULT), "look for", label) == 0) {
        throw Error(FailureKind::not_found, fmt::format("cannot select {}: there is no such object", label),
                    hint_of(source, path));
      }
      H5L_info_t link;
      checked(H5Lget_info(source.id(), prefix.c_str(), &link, H5P_DEFAULT), "read the link", label);
      if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) {
        throw Error(FailureKind::invalid,
                    fmt::format("cannot select {}: {} leads to another file", label, printable(prefix)),
                    "external links are not followed: select from that file");
      }
      if (checked(H5Oexists_by_name(source.id(), prefix.c_str(), H5P_DEFAULT), "follow the link", label) == 0) {
        throw Error(FailureKind::not_found, fmt::format("cannot select {}: the link leads nowhere", label));
      }
    }
    if (end == std::string::npos) break;
  }
  H5O_info_t info;
  checked(H5Oget_info_by_name2(source.id(), path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), "open", label);
  return info.type;
}

class Matching {
 public:
  explicit Matching(const Source& source) : source_(source) {}

  void add(const Hyperslab& selection) {
    const H5O_type_t type = type_at(source_, selection.path);
    if (type == H5O_TYPE_DATASET) return add_named(selection);
    if (type != H5O_TYPE_GROUP || !selection.whole) {
      throw Error(FailureKind::usage, fmt::format("cannot select {}: it is no dataset", source_.label(selection.path)),
                  "an index belongs to a dataset; a group is selected whole");
    }
    groups_.push_back(selection.path == "/" ? "/" : selection.path + "/");
  }

  WantedList finish() {
    if (groups_.empty()) return std::move(list_);
    std::set<std::string> datasets;
    walk(source_, [&](const Node& node) {
      if (node.kind == NodeKind::dataset) datasets.insert(node.path);
      if (!below_a_group(node.path) || node.kind == NodeKind::group) return;
      if (node.kind == NodeKind::dataset || (node.kind == NodeKind::alias && datasets.contains(node.target))) {
        if (named_.insert(node.path).second) list_.datasets.push_back({{node.path, true, {}}, false});
      } else {
        list_.left_out.push_back(source_.label(node.path) + ": it is a link or a type, not data");
      }
    });
    return std::move(list_);
  }

 private:
  void add_named(const Hyperslab& selection) {
    if (!named_.insert(selection.path).second) {
      throw Error(FailureKind::usage, fmt::format("{} is selected twice", source_.label(selection.path)),
                  "a selection is at its own path: make two files");
    }
    list_.datasets.push_back({selection, true});
  }

  [[nodiscard]] bool below_a_group(const std::string& path) const {
    return std::ranges::any_of(groups_, [&](const std::string& group) { return path.starts_with(group); });
  }

  const Source& source_;
  std::set<std::string> named_;
  std::vector<std::string> groups_;
  WantedList list_;
};

}  // namespace

WantedList match(const Source& source, const Selections& selections, bool rest) {
  Matching matching(source);
  for (const Hyperslab& selection : selections) matching.add(selection);
  if (rest) matching.add({"/", true, {}});
  return matching.finish();
}

}  // namespace sabath::h5
