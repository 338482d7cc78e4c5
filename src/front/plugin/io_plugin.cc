// Sources, archives, HDF5 and the server: what libsabath_io.so exports.
#include "plugin/tables.h"

extern "C" {
extern const sabath::IoTable sabath_plugin_table;
const sabath::IoTable sabath_plugin_table{
    SABATH_HEADERS_HASH,  sabath::make_fetchers, sabath::make_server,   sabath::unpack_archive, sabath::write_bundle,
    sabath::read_bundle,  sabath::hdf5_library,  sabath::inspect_hdf5,  sabath::logical_hash,   sabath::select_into,
    sabath::extract_into, sabath::write_hdf5,    sabath::unpack_stream, sabath::visit_archive,
};
}
