#include "hdf5/inspect.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hdf5/source.h"
#include "hdf5/tree.h"
#include "hdf5/value.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using namespace h5;
using Json = nlohmann::ordered_json;

constexpr std::size_t objects_shown_max = 100'000, attributes_shown_max = 256, sources_shown_max = 64;

std::string_view name_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::group:
      return "group";
    case NodeKind::dataset:
      return "dataset";
    case NodeKind::type:
      return "type";
    case NodeKind::alias:
      return "alias";
    case NodeKind::soft_link:
      return "soft_link";
    case NodeKind::external_link:
      return "external_link";
    case NodeKind::other:
      break;
  }
  return "other";
}

std::string_view name_of(Storage storage) {
  switch (storage) {
    case Storage::compact:
      return "compact";
    case Storage::contiguous:
      return "contiguous";
    case Storage::chunked:
      return "chunked";
    case Storage::external:
      return "external";
    case Storage::elsewhere:
      break;
  }
  return "virtual";
}

Json filter_record(hid_t properties, unsigned index, const std::string& label) {
  constexpr std::size_t values_max = 64;
  unsigned flags = 0, values[values_max];
  std::size_t count = values_max;
  char name[256] = "";
  const H5Z_filter_t id = checked(H5Pget_filter2(properties, index, &flags, &count, values, sizeof name, name, nullptr),
                                  "read a filter of", label);
  name[sizeof name - 1] = '\0';
  constexpr std::string_view known[] = {"", "gzip", "shuffle", "fletcher32", "szip", "nbit", "scaleoffset"};
  const std::string_view shown = id > 0 && id < 7 ? known[id] : std::string_view(name);
  return {{"id", id},
          {"name", printable(shown)},
          {"values", std::vector<unsigned>(values, values + std::min(count, values_max))},
          {"optional", (flags & H5Z_FLAG_OPTIONAL) != 0},
          {"available", H5Zfilter_avail(id) > 0}};
}

Json filters_record(hid_t properties, const std::string& label) {
  Json filters = Json::array();
  const int count = checked(H5Pget_nfilters(properties), "read the filters of", label);
  for (int i = 0; i < count; ++i) filters.push_back(filter_record(properties, static_cast<unsigned>(i), label));
  H5Eclear2(H5E_DEFAULT);
  return filters;
}

// The names of the files and datasets that hold the data; they are shown and never opened.
Json elsewhere_record(hid_t properties, Storage storage, const std::string& label) {
  Json sources = Json::array();
  if (storage == Storage::external) {
    const int count = checked(H5Pget_external_count(properties), "read the external files of", label);
    for (unsigned i = 0; i < static_cast<unsigned>(count) && i < sources_shown_max; ++i) {
      char name[1024] = "";
      checked(H5Pget_external(properties, i, sizeof name - 1, name, nullptr, nullptr), "read an external file of",
              label);
      sources.push_back({{"file", printable(name, 1024)}});
    }
    return sources;
  }
  std::size_t count = 0;
  checked(H5Pget_virtual_count(properties, &count), "read the sources of", label);
  for (std::size_t i = 0; i < count && i < sources_shown_max; ++i) {
    char file[1024] = "", dataset[1024] = "";
    checked(H5Pget_virtual_filename(properties, i, file, sizeof file), "read a source of", label);
    checked(H5Pget_virtual_dsetname(properties, i, dataset, sizeof dataset), "read a source of", label);
    file[sizeof file - 1] = dataset[sizeof dataset - 1] = '\0';
    sources.push_back({{"file", printable(file, 1024)}, {"dataset", printable(dataset, 1024)}});
  }
  return sources;
}

Json fill_record(hid_t properties, const Type& type, hid_t file_type, const std::string& label) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  checked(H5Pfill_value_defined(properties, &defined), "read the fill value of", label);
  if (defined != H5D_FILL_VALUE_USER_DEFINED || !type.flat() || type.has(Type::Kind::time)) return nullptr;
  const Handle memory_type = canonical_memory_type(file_type, label);
  std::vector<std::byte> value(type.memory_size());
  checked(H5Pget_fill_value(properties, memory_type.get(), value.data()), "read the fill value of", label);
  return value_record(type, value.data());
}

// A virtual dataset is not asked for its shape: HDF5 would open its sources to answer.
void add_dataset(hid_t id, const std::string& label, Json& record) {
  const Handle properties = own(H5Dget_create_plist(id), H5Pclose, "read the storage of", label);
  const Handle file_type = own(H5Dget_type(id), H5Tclose, "read the type of", label);
  const Type type = parse_type(file_type.get(), label);
  const Storage storage = storage_of(properties.get());
  record["type"] = describe(type);
  record["layout"] = name_of(storage);
  if (storage == Storage::elsewhere) {
    record["sources"] = elsewhere_record(properties.get(), storage, label);
    return;
  }
  const Handle space = own(H5Dget_space(id), H5Sclose, "read the shape of", label);
  const Shape shape = shape_of(space.get(), label);
  record["shape"] = shape_record(shape);
  record["shape_max"] = shape.kind == H5S_SIMPLE ? Json::array() : Json(nullptr);
  for (const std::uint64_t extent : shape.dims_max) {
    record["shape_max"].push_back(extent == H5S_UNLIMITED ? Json(nullptr) : Json(extent));
  }
  record["bytes"] = product(element_count(shape, label), type.size, label);
  if (storage == Storage::external) {
    record["sources"] = elsewhere_record(properties.get(), storage, label);
    return;
  }
  record["stored_bytes"] = H5Dget_storage_size(id);
  hsize_t chunk[rank_max];
  if (storage == Storage::chunked) {
    const int rank = checked(H5Pget_chunk(properties.get(), rank_max, chunk), "read the chunks of", label);
    record["chunk"] = std::vector<std::uint64_t>(chunk, chunk + rank);
  }
  record["filters"] = filters_record(properties.get(), label);
  record["fill"] = fill_record(properties.get(), type, file_type.get(), label);
}

void add_attributes(hid_t id, const std::string& label, const Paths& paths, Json& record) {
  const std::vector<std::string> names = attribute_names(id, label);
  Json attributes = Json::array();
  for (const std::string& name : names) {
    if (attributes.size() == attributes_shown_max) break;
    attributes.push_back(attribute_record(id, name, label, paths));
  }
  record["attributes"] = std::move(attributes);
  record["attributes_total"] = names.size();
}

Json object_record(const Source& source, const Node& node, const Paths& paths) {
  Json record{{"path", printable(node.path, 65536)}, {"kind", name_of(node.kind)}};
  if (!node.file.empty()) record["file"] = printable(node.file, 4096);
  if (!node.target.empty()) record["target"] = printable(node.target, 65536);
  if (node.kind != NodeKind::group && node.kind != NodeKind::dataset && node.kind != NodeKind::type) return record;
  const std::string label = source.label(node.path);
  const Handle object = own(H5Oopen(source.id(), node.path.c_str(), H5P_DEFAULT), H5Oclose, "open", label);
  if (node.kind == NodeKind::dataset) add_dataset(object.get(), label, record);
  if (node.kind == NodeKind::type) record["type"] = describe(parse_type(object.get(), label));
  add_attributes(object.get(), label, paths, record);
  return record;
}

}  // namespace

Json inspect_hdf5(const std::filesystem::path& file, const std::function<void()>& on_progress) {
  const Source source(file);
  std::vector<Node> nodes;
  Paths paths;
  std::size_t total = 0;
  walk(source, [&](const Node& node) {
    if (node.kind != NodeKind::alias && node.address != HADDR_UNDEF) paths.emplace(node.address, node.path);
    if (++total <= objects_shown_max) nodes.push_back(node);
  });
  Json objects = Json::array();
  for (const Node& node : nodes) {
    on_progress();
    objects.push_back(object_record(source, node, paths));
  }
  return {{"file", file.string()},
          {"bytes", source.size_bytes()},
          {"objects", std::move(objects)},
          {"objects_total", total}};
}

}  // namespace sabath
