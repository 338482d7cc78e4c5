// The companion that reads HDF5 files: an answer to each request (hdf5/messages.h), until nobody asks. Its memory is
// bounded, and its processor time between two signs of life; it ends with the thread that started it.
#pragma once

#include <string_view>

namespace sabath::companion {

[[nodiscard]] int read_hdf5(int channel, std::string_view request);

}  // namespace sabath::companion
