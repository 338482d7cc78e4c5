// Values of attributes as JSON, bounded. One thread at a time. Throws Error{invalid}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hdf5/elements.h"
#include "hdf5/source.h"

namespace sabath::h5 {

inline constexpr std::uint64_t attribute_bytes_max = 64ULL << 20;  // of an attribute that is read at all

// {"name","type","shape","value"}; a value too large to show is cut, and "cut" is then true.
[[nodiscard]] nlohmann::ordered_json attribute_record(hid_t object, const std::string& attribute,
                                                      const std::string& object_name, const Paths& paths);

// The shape as JSON: null of H5S_NULL, [] of a scalar.
[[nodiscard]] nlohmann::ordered_json shape_record(const Shape& shape);
// One value that HDF5 holds as `type` in `memory`, for fill values. Flat types only.
[[nodiscard]] nlohmann::ordered_json value_record(const Type& type, const std::byte* memory);

}  // namespace sabath::h5
