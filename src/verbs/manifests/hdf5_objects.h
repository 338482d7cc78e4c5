// The objects of an HDF5 file: from the JSON that another process sends to values, and back. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sabath/hdf5.h"

namespace sabath {

[[nodiscard]] Hdf5Object parse_hdf5_object(const nlohmann::ordered_json& json);  // as hdf5/inspect.h makes it
[[nodiscard]] nlohmann::ordered_json json_of(const Hdf5Object& object);

}  // namespace sabath
