#include "verbs/version.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "hdf5/library.h"
#include "mpi/library.h"

namespace sabath {
namespace {

// A plugin of this program, or a library that it needs, may not be there.
Library look(const char* name, std::string (*version)()) {
  try {
    return {name, version(), std::nullopt};
  } catch (const Error& error) {
    return {name, "", error.failure()};
  }
}

}  // namespace

MpiPlaces mpi_places(const Environment& environment) {
  return {[&environment](const std::string& name) { return environment.get(name); },
          environment.base_directory("XDG_DATA_HOME", ".local/share"), environment.executable};
}

std::string mpi_version(const Environment& environment) {
  const MpiSearch search = find_mpi(mpi_places(environment));
  if (search.found) return search.found->version;
  return search.built ? fmt::format("none that can be used: `{}` says why", verb_text("doctor"))
                      : "none (built without MPI)";
}

std::vector<Library> libraries() {
  return {
    look("HDF5", hdf5_library), {"built with", SABATH_BUILT_WITH, std::nullopt},
#if defined(SABATH_BUNDLED_VERSIONS)
        {"bundled", SABATH_BUNDLED_VERSIONS, std::nullopt},  // static, with the date of each
#endif
    {
      "compiler", SABATH_COMPILER, std::nullopt
    }
  };
}

}  // namespace sabath
