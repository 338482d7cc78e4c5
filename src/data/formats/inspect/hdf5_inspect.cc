// HDF5, and netCDF 4. A process of its own reads it (src/data/hdf5).
#include "formats/inspect/inspect_format.h"

namespace sabath {
namespace {

bool is_hdf5(const DataFile& file) { return file.begin().starts_with("\x89HDF\r\n\x1a\n"); }

}  // namespace

extern constexpr InspectFormat hdf5_inspected{
    .name = "hdf5",
    .endings = ".h5 .hdf5 .hdf .he5 .nc .nc4",
    .is = is_hdf5,
    .by_program = true,
};

}  // namespace sabath
