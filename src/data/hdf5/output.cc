#include "hdf5/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/wording.h"
#include "hdf5/elements.h"
#include "hdf5/tree.h"
#include "hdf5/value.h"
#include "sabath/path.h"

namespace sabath::h5 {
namespace {

constexpr H5Z_filter_t zstd_filter = 32015;  // registered with the HDF Group
constexpr unsigned gzip_level = 4, zstd_level = 3;
constexpr std::uint64_t chunk_bytes_wanted = 1 << 20;
constexpr hsize_t align_above_bytes = 64 << 10, align_bytes = 4096;

Handle properties(hid_t kind, const std::string& name) {
  return own(H5Pcreate(kind), H5Pclose, "prepare", name, FailureKind::internal);
}

Handle create(const std::filesystem::path& path, const std::string& name) {
  const Handle access = properties(H5P_FILE_ACCESS, name), creation = properties(H5P_FILE_CREATE, name);
  leave_unlocked(access.get(), name);
  checked(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18), "prepare", name, FailureKind::internal);
  checked(H5Pset_alignment(access.get(), align_above_bytes, align_bytes), "prepare", name, FailureKind::internal);
  checked(H5Pset_obj_track_times(creation.get(), 0), "prepare", name, FailureKind::internal);
  return own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose, "create", name,
             FailureKind::storage);
}

// Whole rows, as many as make about a mebibyte: what is written in order fills one chunk after the other.
Dims chunk_of_rows(const Dims& extents, std::size_t element_bytes) {
  Dims chunk(extents.size(), 1);
  std::uint64_t bytes = std::max<std::uint64_t>(element_bytes, 1);
  for (std::size_t a = extents.size(); a-- > 0;) {
    chunk[a] = std::clamp<std::uint64_t>(chunk_bytes_wanted / bytes, 1, extents[a]);
    bytes *= chunk[a];
    if (chunk[a] < extents[a]) break;
  }
  return chunk;
}

void keep_filters(hid_t source, hid_t target, const std::string& name) {
  const int count = checked(H5Pget_nfilters(source), "read the filters of", name);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, values[256];
    std::size_t values_count = std::size(values);
    const H5Z_filter_t id =
        checked(H5Pget_filter2(source, static_cast<unsigned>(i), &flags, &values_count, values, 0, nullptr, nullptr),
                "read the filters of", name);
    checked(H5Pset_filter(target, id, flags, std::min(values_count, std::size(values)), values), "keep the filters of",
            name);
  }
}

void set_zstd(hid_t target, const std::string& name) {
  if (H5Zfilter_avail(zstd_filter) <= 0) {
    H5Eclear2(H5E_DEFAULT);
    throw Error(
        FailureKind::usage, "cannot write with zstd: this HDF5 has no plugin for it (filter 32015)",
        fmt::format("Debian has none; put one into {}, or say {} gzip", H5_DEFAULT_PLUGINDIR, option_text("filter")));
  }
  checked(H5Pset_filter(target, zstd_filter, H5Z_FLAG_MANDATORY, 1, &zstd_level), "compress", name);
}

Handle creation_of(const Dataset& source, const Dims& extents, const Dims& kept_chunk, SelectOptions::Filter filter,
                   bool variable) {
  using Filter = SelectOptions::Filter;
  Handle result = properties(H5P_DATASET_CREATE, source.name);
  const hid_t id = result.get();
  checked(H5Pset_obj_track_times(id, 0), "prepare", source.name);
  if (!variable) checked(H5Pset_fill_time(id, H5D_FILL_TIME_NEVER), "prepare", source.name);
  const bool has_data = !extents.empty() && std::ranges::find(extents, 0U) == extents.end();
  if (!has_data || filter == Filter::none || (filter == Filter::keep && kept_chunk.empty())) return result;
  if (variable && filter != Filter::keep) return result;  // filters see references to the text, not the text
  Dims chunk = filter == Filter::keep ? kept_chunk : chunk_of_rows(extents, H5Tget_size(source.type.get()));
  for (std::size_t a = 0; a < chunk.size(); ++a) chunk[a] = std::min(chunk[a], extents[a]);
  checked(H5Pset_chunk(id, static_cast<int>(chunk.size()), std::vector<hsize_t>(chunk.begin(), chunk.end()).data()),
          "prepare", source.name);
  if (filter == Filter::keep) {
    keep_filters(source.properties.get(), id, source.name);
    return result;
  }
  checked(H5Pset_shuffle(id), "prepare", source.name);
  if (filter == Filter::zstd) {
    set_zstd(id, source.name);
  } else {
    checked(H5Pset_deflate(id, gzip_level), "prepare", source.name);
  }
  return result;
}

// Copies the fill value: a reader of the source can ask for it.
void keep_fill_value(const Dataset& source, hid_t target, const Type& type) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  checked(H5Pfill_value_defined(source.properties.get(), &defined), "read the fill value of", source.name);
  if (defined != H5D_FILL_VALUE_USER_DEFINED || !type.flat()) return;
  std::vector<std::byte> value(H5Tget_size(source.type.get()));
  checked(H5Pget_fill_value(source.properties.get(), source.type.get(), value.data()), "read the fill value of",
          source.name);
  checked(H5Pset_fill_value(target, source.type.get(), value.data()), "keep the fill value of", source.name);
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), name_(printable(path_.string(), 4096)), file_(create(path_, name_)) {}

void OutputFile::make_groups(const Source& source, const std::string& prefix, const std::string& object_path) {
  if (groups_.emplace("/").second) {
    const Handle from = own(H5Gopen2(source.id(), "/", H5P_DEFAULT), H5Gclose, "open", source.label("/"));
    const Handle to = own(H5Gopen2(file_.get(), "/", H5P_DEFAULT), H5Gclose, "open", name_);
    copy_attributes(source, from.get(), to.get(), source.label("/"));
  }
  if (!prefix.empty() && groups_.insert(prefix).second) make_group(source, "", prefix);
  for (auto end = object_path.find('/', 1); end != std::string::npos; end = object_path.find('/', end + 1)) {
    const std::string group = object_path.substr(0, end);
    if (groups_.insert(prefix + group).second) make_group(source, group, prefix + group);
  }
}

void OutputFile::make_group(const Source& source, const std::string& from, const std::string& to) {
  const Handle creation = properties(H5P_GROUP_CREATE, name_);
  checked(H5Pset_obj_track_times(creation.get(), 0), "prepare", name_);
  const Handle group = own(H5Gcreate2(file_.get(), to.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose,
                           "create a group in", name_, FailureKind::storage);
  if (from.empty()) return;
  const std::string label = source.label(from);
  const Handle original = own(H5Gopen2(source.id(), from.c_str(), H5P_DEFAULT), H5Gclose, "open", label);
  copy_attributes(source, original.get(), group.get(), label);
}

Handle OutputFile::make_dataset(const Source& file, const Dataset& source, const std::string& path, const Dims& extents,
                                const Dims& chunk, SelectOptions::Filter filter) {
  const Type type = parse_type(source.type.get(), source.name);
  const Handle creation = creation_of(source, extents, chunk, filter, type.is_variable());
  keep_fill_value(source, creation.get(), type);
  const std::vector<hsize_t> dims(extents.begin(), extents.end());
  const hid_t simple = source.shape.kind == H5S_NULL ? H5Screate(H5S_NULL)
                       : dims.empty()                ? H5Screate(H5S_SCALAR)
                                      : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
  const Handle space = own(simple, H5Sclose, "shape", source.name);
  const Handle plain = own(H5Tcopy(source.type.get()), H5Tclose, "copy the type of", source.name);
  Handle dataset =
      own(H5Dcreate2(file_.get(), path.c_str(), plain.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
          H5Dclose, "create " + printable(path) + " in", name_, FailureKind::storage);
  copy_attributes(file, source.id.get(), dataset.get(), source.name);
  return dataset;
}

void OutputFile::copy_attributes(const Source&, hid_t from, hid_t to, const std::string& label) {
  for (const std::string& attribute : attribute_names(from, label)) {
    if (attribute != provenance_name) copy_attribute(from, to, attribute, label + "@" + printable(attribute));
  }
}

void OutputFile::copy_attribute(hid_t from, hid_t to, const std::string& attribute, const std::string& label) {
  const Handle id = own(H5Aopen(from, attribute.c_str(), H5P_DEFAULT), H5Aclose, "open", label);
  const Handle stored = own(H5Aget_type(id.get()), H5Tclose, "read the type of", label);
  const Handle space = own(H5Aget_space(id.get()), H5Sclose, "read the shape of", label);
  const Type type = parse_type(stored.get(), label);
  if (type.has(Type::Kind::object) || type.has(Type::Kind::region)) {
    left_out_.push_back(label + ": references mean nothing in another file");
    return;
  }
  const Handle memory = own(H5Tcopy(stored.get()), H5Tclose, "copy the type of", label);
  const std::uint64_t count = element_count(shape_of(space.get(), label), label);
  if (product(count, H5Tget_size(memory.get()), label) > attribute_bytes_max) {
    throw Error(FailureKind::invalid, fmt::format("cannot copy {}: it is larger than 64 MiB", label));
  }
  Elements elements(memory.get(), H5Tget_size(memory.get()), type.is_variable());
  elements.resize(count);
  if (count > 0) checked(H5Aread(id.get(), memory.get(), elements.data()), "read", label);
  const Handle copy = own(H5Acreate2(to, attribute.c_str(), memory.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose, "copy", label, FailureKind::storage);
  if (count > 0) checked(H5Awrite(copy.get(), memory.get(), elements.data()), "copy", label, FailureKind::storage);
}

void OutputFile::set_provenance(const std::string& text) {
  const Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose, "prepare", name_);
  checked(H5Tset_size(type.get(), H5T_VARIABLE), "prepare", name_);
  checked(H5Tset_cset(type.get(), H5T_CSET_UTF8), "prepare", name_);
  const Handle space = own(H5Screate(H5S_SCALAR), H5Sclose, "prepare", name_);
  const Handle root = own(H5Gopen2(file_.get(), "/", H5P_DEFAULT), H5Gclose, "open", name_);
  const Handle attribute =
      own(H5Acreate2(root.get(), provenance_name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "write",
          name_, FailureKind::storage);
  const char* value = text.c_str();
  checked(H5Awrite(attribute.get(), type.get(), static_cast<const void*>(&value)), "write", name_,
          FailureKind::storage);
}

std::uint64_t OutputFile::finish(bool sync) {
  checked(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "write", name_, FailureKind::storage);
  file_.close(name_);
  const Fd fd = open_file(path_, O_RDONLY);
  if (sync) sync_file(fd.get(), path_);
  return static_cast<std::uint64_t>(try_stat(path_).value().st_size);
}

std::string provenance_of(const Source& source) {
  if (H5Aexists_by_name(source.id(), "/", provenance_name, H5P_DEFAULT) <= 0) return {};
  const std::string label = source.label("/");
  const Handle id =
      own(H5Aopen_by_name(source.id(), "/", provenance_name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "open", label);
  const Handle stored = own(H5Aget_type(id.get()), H5Tclose, "read", label);
  const Handle space = own(H5Aget_space(id.get()), H5Sclose, "read", label);
  const Type type = parse_type(stored.get(), label);
  if (type.kind != Type::Kind::string || !type.variable || shape_of(space.get(), label).kind != H5S_SCALAR) return {};
  const Handle memory = own(H5Tcopy(stored.get()), H5Tclose, "read", label);
  Elements elements(memory.get(), sizeof(char*), true);
  elements.resize(1);
  checked(H5Aread(id.get(), memory.get(), elements.data()), "read", label);
  const char* text = *reinterpret_cast<const char* const*>(elements.data());
  return text == nullptr ? "" : text;
}

}  // namespace sabath::h5
