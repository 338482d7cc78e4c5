// The contents of an HDF5 file, as the record of `sabath hdf5 inspect` (docs/hdf5.md). Reads metadata and attributes,
// never data, and nothing outside the file. One thread at a time; bounded memory. Throws Error as hdf5/source.h says.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace sabath {

// {"file","bytes","objects":[...],"objects_total"}: the first 100,000 objects, 256 attributes of each.
[[nodiscard]] nlohmann::ordered_json inspect_hdf5(
    const std::filesystem::path& file, const std::function<void()>& on_progress = [] {});

}  // namespace sabath
