// The links of an HDF5 file as a tree: each object once, under the first path that leads to it; every other path to it
// is an alias, so cycles end. Soft and external links are listed, never followed. Bounded: see the limits below. One
// thread at a time. Throws Error{invalid}.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "hdf5/source.h"

namespace sabath::h5 {

inline constexpr std::size_t links_max = 1'000'000;   // of a file
inline constexpr std::size_t group_depth_max = 64;    // groups within groups
inline constexpr std::size_t link_name_max = 1024;    // bytes
inline constexpr std::size_t attributes_max = 65536;  // of one object

enum class NodeKind { group, dataset, type, alias, soft_link, external_link, other };

struct Node {
  NodeKind kind = NodeKind::other;
  std::string path;    // "/", "/group/x"
  std::string target;  // alias: the first path; soft and external: what the link says; other: "link class 70"
  std::string file;    // external: the file's name
  haddr_t address = HADDR_UNDEF;
};

// Parents before what is in them, names in the order of their bytes: the same data give the same order.
void walk(const Source& source, const std::function<void(const Node&)>& visit);

// The names of an object's attributes in the order of their bytes.
[[nodiscard]] std::vector<std::string> attribute_names(hid_t object, std::string_view name);

}  // namespace sabath::h5
