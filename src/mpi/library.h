// Names the MPI that this build uses. Any thread, before or after MPI is initialised.
#pragma once

#include <optional>
#include <string>

namespace sabath {

// "Open MPI v4.1.4": the first words of the library's own version text; nullopt in a build without MPI.
[[nodiscard]] std::optional<std::string> mpi_library();

}  // namespace sabath
