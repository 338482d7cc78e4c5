#include "hdf5/arrays.h"

#include <algorithm>

#include "base/file.h"
#include "hdf5/handle.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using namespace h5;

template <typename... Cases>
struct ByType : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
ByType(Cases...) -> ByType<Cases...>;  // clang 14 does not deduce it

Handle properties_for(hid_t kind, const std::string& name) {
  return own(H5Pcreate(kind), H5Pclose, "prepare", name, FailureKind::internal);
}

Handle text_type(std::size_t bytes, const std::string& name) {
  Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose, "prepare", name);
  checked(H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1)), "prepare", name);
  checked(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "prepare", name);
  return type;
}

Handle new_file(const std::filesystem::path& path, const std::string& name) {
  const Handle access = properties_for(H5P_FILE_ACCESS, name), creation = properties_for(H5P_FILE_CREATE, name);
  leave_unlocked(access.get(), name);
  checked(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), "prepare", name);
  checked(H5Pset_obj_track_times(creation.get(), 0), "prepare", name);
  return own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose, "create", name,
             FailureKind::storage);
}

void add_attribute(hid_t root, const Hdf5Scalar& attribute, const std::string& name) {
  const auto add = [&](hid_t stored, hid_t memory, const void* value) {
    const Handle space = own(H5Screate(H5S_SCALAR), H5Sclose, "prepare", name);
    const Handle id = own(H5Acreate2(root, attribute.name.c_str(), stored, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose, "write", name, FailureKind::storage);
    checked(H5Awrite(id.get(), memory, value), "write", name, FailureKind::storage);
  };
  std::visit(ByType{[&](std::int64_t number) { add(H5T_STD_I64LE, H5T_NATIVE_INT64, &number); },
                    [&](const std::string& text) {
                      const Handle type = text_type(text.size(), name);
                      add(type.get(), type.get(), text.c_str());
                    }},
             attribute.value);
}

void add_array(hid_t root, const Hdf5Array& array, const std::string& name) {
  const auto add = [&](hid_t stored, hid_t memory, const void* values) {
    const std::vector<hsize_t> extents(array.extents.begin(), array.extents.end());
    const Handle space =
        own(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, "shape", name);
    const Handle creation = properties_for(H5P_DATASET_CREATE, name);
    checked(H5Pset_obj_track_times(creation.get(), 0), "prepare", name);
    const Handle id =
        own(H5Dcreate2(root, array.name.c_str(), stored, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
            H5Dclose, "write", name, FailureKind::storage);
    checked(H5Dwrite(id.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write", name, FailureKind::storage);
  };
  std::visit(
      ByType{[&](const std::vector<std::int16_t>& values) { add(H5T_STD_I16LE, H5T_NATIVE_INT16, values.data()); },
             [&](const std::vector<double>& values) { add(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data()); },
             [&](const std::vector<std::string>& texts) {
               std::size_t longest = 1;
               for (const std::string& text : texts) longest = std::max(longest, text.size());
               std::string padded;
               for (std::string text : texts) {
                 text.resize(longest, '\0');
                 padded += text;
               }
               const Handle type = text_type(longest, name);
               add(type.get(), type.get(), padded.data());
             }},
      array.values);
}

}  // namespace

void write_hdf5(const std::filesystem::path& file, const Hdf5Arrays& content) {
  prepare_library();
  const std::string name = printable(file.string(), 4096);
  Handle id = new_file(file, name);
  for (const Hdf5Scalar& attribute : content.attributes) add_attribute(id.get(), attribute, name);
  for (const Hdf5Array& array : content.arrays) add_array(id.get(), array, name);
  checked(H5Fflush(id.get(), H5F_SCOPE_GLOBAL), "write", name, FailureKind::storage);
  id.close(name);
}

}  // namespace sabath
