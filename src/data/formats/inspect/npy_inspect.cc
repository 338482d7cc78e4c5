// NumPy's array: \x93NUMPY, a header, the data.
#include "formats/inspect/inspect_format.h"
#include "formats/inspect/npy_array.h"

namespace sabath {
namespace {

bool is_array(const DataFile& file) { return is_npy(file.begin()); }

void read_array(const DataFile& file, InspectRecord& record) {
  // Of what is packed the length of the data is not known without unpacking them.
  add_array(record, array_of(file.is_packed() ? parse_npy_header(file.head(npy_header_bytes_max), file.path().native())
                                              : read_npy_header(file.path()),
                             ""));
}

}  // namespace

extern constexpr InspectFormat npy_inspected{
    .name = "npy",
    .endings = ".npy",
    .is = is_array,
    .read = read_array,
    .in_gzip = true,
};

}  // namespace sabath
