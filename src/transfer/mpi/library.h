// Finds the MPI of this machine, and the plug-in that speaks to it. The program is linked with neither. A library that
// was opened stays open to the end. Main thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mpi/plugin/mpi_table.h"
#include "mpi/session.h"

namespace sabath {

struct MpiLibrary {
  std::string version;                 // "Open MPI v4.1.4": the first words of its own text
  std::string abi;                     // "openmpi", "mpich" or "abi"
  std::filesystem::path file, plugin;  // absolute
};

struct MpiSearch {
  bool built = true;                        // false: a build without MPI, or a library without a program
  std::optional<MpiLibrary> found;          // the first that can be used
  const sabath_mpi_calls* calls = nullptr;  // its plug-in's, with `found`
  std::vector<std::string> passed_over;     // "libmpi.so.12: not there", in the order of the search
  bool lacks_plugin = false;                // an MPI was found that none of the plug-ins fits
};

// Where plug-ins lie: the user's data directory, then beside the program.
[[nodiscard]] std::vector<std::filesystem::path> plugin_directories(const MpiPlaces& places);

// SABATH_LIBMPI overrules the search. `whole`: also tells of those that come after the one that is used. Throws nothing
// of its own: what cannot be used is passed over.
[[nodiscard]] MpiSearch find_mpi(const MpiPlaces& places, bool whole = false);

}  // namespace sabath
