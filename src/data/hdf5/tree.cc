#include "hdf5/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace sabath::h5 {
namespace {

[[noreturn]] void refuse(const std::string& name, std::string_view what, std::size_t most) {
  throw Error(FailureKind::invalid, fmt::format("cannot list {}: it has {}, at most {} are taken", name, what, most),
              "the file may be hostile: do not trust it");
}

struct Names {
  std::vector<std::string> names;
  std::size_t count_max = 0;
  bool too_many = false, too_long = false;

  herr_t add(const char* name) noexcept {
    try {
      const std::string_view text = name;
      too_long = text.size() > link_name_max;
      too_many = names.size() >= count_max;
      if (too_long || too_many) return -1;
      names.emplace_back(text);
      return 0;
    } catch (const std::exception&) {  // a C callback: no memory for more
      too_many = true;
      return -1;
    }
  }
};

herr_t add_link(hid_t, const char* name, const H5L_info_t*, void* data) { return static_cast<Names*>(data)->add(name); }
herr_t add_attribute(hid_t, const char* name, const H5A_info_t*, void* data) {
  return static_cast<Names*>(data)->add(name);
}

std::vector<std::string> sorted(Names& found, herr_t status, const std::string& label, std::string_view kind) {
  if (found.too_many) refuse(label, fmt::format("too many {}", kind), found.count_max);
  if (found.too_long) refuse(label, fmt::format("a name of too many bytes among its {}", kind), link_name_max);
  checked(status, fmt::format("list the {} of", kind), label);
  std::ranges::sort(found.names);
  return std::move(found.names);
}

class Walk {
 public:
  Walk(const Source& source, const std::function<void(const Node&)>& visit) : source_(source), visit_(visit) {}

  void start() {
    const Handle root = own(H5Gopen2(source_.id(), "/", H5P_DEFAULT), H5Gclose, "open", source_.label("/"));
    H5O_info_t info;
    checked(H5Oget_info2(root.get(), &info, H5O_INFO_BASIC), "read", source_.label("/"));
    visit_({NodeKind::group, "/", {}, {}, info.addr});
    seen_.emplace(info.addr, "/");
    group(root.get(), "", 1);
  }

 private:
  void group(hid_t id, const std::string& path, std::size_t depth) {
    const std::string label = source_.label(path.empty() ? "/" : path);
    if (depth > group_depth_max) refuse(label, "too many groups within each other", group_depth_max);
    Names found{{}, links_max - links_};
    const herr_t status = H5Literate(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, &add_link, &found);
    const std::vector<std::string> names = sorted(found, status, label, "links");
    links_ += names.size();
    for (const std::string& name : names) link(id, name, path + "/" + name, depth);
  }

  void link(hid_t group_id, const std::string& name, const std::string& path, std::size_t depth) {
    const std::string label = source_.label(path);
    H5L_info_t info;
    checked(H5Lget_info(group_id, name.c_str(), &info, H5P_DEFAULT), "read the link", label);
    if (info.type == H5L_TYPE_HARD) return object(group_id, name, path, depth);
    Node node{NodeKind::other, path, fmt::format("link class {}", static_cast<int>(info.type)), {}, HADDR_UNDEF};
    if (info.type == H5L_TYPE_SOFT || info.type == H5L_TYPE_EXTERNAL) read_target(group_id, name, info, node, label);
    visit_(node);
  }

  void read_target(hid_t group_id, const std::string& name, const H5L_info_t& info, Node& node,
                   const std::string& label) {
    constexpr std::size_t value_max = 65536;
    if (info.u.val_size > value_max) refuse(label, "a link value of too many bytes", value_max);
    std::string value(info.u.val_size, '\0');
    checked(H5Lget_val(group_id, name.c_str(), value.data(), value.size(), H5P_DEFAULT), "read the link", label);
    if (info.type == H5L_TYPE_SOFT) {
      node.kind = NodeKind::soft_link;
      node.target = value.c_str();
      return;
    }
    unsigned flags = 0;
    const char* file = nullptr;
    const char* target = nullptr;
    checked(H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &target), "read the link", label);
    node.kind = NodeKind::external_link;
    node.file = file;
    node.target = target;
  }

  void object(hid_t group_id, const std::string& name, const std::string& path, std::size_t depth) {
    const std::string label = source_.label(path);
    H5O_info_t info;
    checked(H5Oget_info_by_name2(group_id, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), "read", label);
    if (const auto [first, fresh] = seen_.emplace(info.addr, path); !fresh) {
      return visit_({NodeKind::alias, path, first->second, {}, info.addr});
    }
    switch (info.type) {
      case H5O_TYPE_GROUP: {
        visit_({NodeKind::group, path, {}, {}, info.addr});
        const Handle child = own(H5Gopen2(group_id, name.c_str(), H5P_DEFAULT), H5Gclose, "open", label);
        return group(child.get(), path, depth + 1);
      }
      case H5O_TYPE_DATASET:
        return visit_({NodeKind::dataset, path, {}, {}, info.addr});
      case H5O_TYPE_NAMED_DATATYPE:
        return visit_({NodeKind::type, path, {}, {}, info.addr});
      default:
        return visit_({NodeKind::other, path, "an object of unknown class", {}, info.addr});
    }
  }

  const Source& source_;
  const std::function<void(const Node&)>& visit_;
  std::unordered_map<haddr_t, std::string> seen_;
  std::size_t links_ = 0;
};

}  // namespace

void walk(const Source& source, const std::function<void(const Node&)>& visit) { Walk(source, visit).start(); }

std::vector<std::string> attribute_names(hid_t object, std::string_view name) {
  Names found{{}, attributes_max};
  const herr_t status = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, &add_attribute, &found);
  return sorted(found, status, std::string(name), "attributes");
}

}  // namespace sabath::h5
