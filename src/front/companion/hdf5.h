// The companion that reads HDF5 files: it answers each request (hdf5/messages.h) until the channel closes. Its memory
// is bounded, and its processor time between two signs of life; it ends with the thread that started it.
#pragma once

#include <string_view>

namespace sabath::companion {

[[nodiscard]] int read_hdf5(int channel, std::string_view request);

}  // namespace sabath::companion
