// The version of the HDF5 that this process runs with. Any thread.
#pragma once

#include <string>

namespace sabath {

[[nodiscard]] std::string hdf5_library();  // "1.10.8"

}  // namespace sabath
