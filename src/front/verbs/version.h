// The libraries that this program was built with and runs with. Any thread. Throws nothing of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi/session.h"
#include "sabath/environment.h"
#include "sabath/error.h"

namespace sabath {

struct Library {
  std::string name;
  std::string version;
  std::optional<Failure> missing;  // why it cannot be loaded; then there is no version
};

// In the order to show them, after MPI.
[[nodiscard]] std::vector<Library> libraries();

// "Open MPI v4.1.4", or "none ..." and why.
[[nodiscard]] std::string mpi_version(const Environment& environment);

// Where this program looks for an MPI. `environment` lives as long as the result.
[[nodiscard]] MpiPlaces mpi_places(const Environment& environment);

}  // namespace sabath
