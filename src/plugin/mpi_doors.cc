// The functions of libsabath_mpi.so, as the program calls them.
#include "plugin/load.h"

namespace sabath {

// Hidden: the plugin has functions of these names, and means its own.
[[gnu::visibility("hidden")]] std::unique_ptr<MpiSession> MpiSession::start() { return mpi_plugin().start(); }

[[gnu::visibility("hidden")]] std::optional<std::string> mpi_library() { return mpi_plugin().library(); }

}  // namespace sabath
