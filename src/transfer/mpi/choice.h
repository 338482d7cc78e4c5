// Which MPI this process uses, decided by what its launcher and a library show, and which plug-in may be loaded. As
// mpi4py does it: by names, and by symbols. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/session.h"

namespace sabath {

enum class MpiFamily { any, openmpi, mpich };

// Whose launcher has started this process, by its variables. any: no launcher, or one that serves several (PMIx,
// Slurm).
[[nodiscard]] MpiFamily launcher_family(const EnvironmentVariable& variable);

// What the dynamic linker is asked for, in this order: the launcher's own first.
[[nodiscard]] std::vector<std::string> mpi_names(const EnvironmentVariable& variable);

// What a library shows before MPI is started.
struct MpiSigns {
  std::string name;         // its file's
  bool is_mpi = false;      // it has the functions that every MPI has
  bool is_openmpi = false;  // it has Open MPI's own data
  int standard_abi = 0;     // of MPI_Abi_get_version: above 0 in a library of the standard ABI
  std::string text;         // of MPI_Get_library_version
};

// "openmpi", "mpich" or "abi", which is a part of its plug-in's name; or why it cannot be used under this launcher.
struct MpiVerdict {
  std::string abi, why_not;  // one of them is empty
};
[[nodiscard]] MpiVerdict judge(const MpiSigns& signs, MpiFamily launcher);

// "Open MPI v4.1.4": the first words of a library's text.
[[nodiscard]] std::string first_words(std::string_view text);

}  // namespace sabath
