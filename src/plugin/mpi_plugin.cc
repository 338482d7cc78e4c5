// The exports of libsabath_mpi.so.
#include "plugin/tables.h"

extern "C" {
extern const sabath::MpiTable sabath_plugin_table;
const sabath::MpiTable sabath_plugin_table{SABATH_HEADERS_HASH, sabath::MpiSession::start, sabath::mpi_library};
}
