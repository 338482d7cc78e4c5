#include "mpi/choice.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sabath {
namespace {

MpiFamily family_of(std::string_view text) {
  const std::string lower = to_lower(text);
  const auto names = [&](std::string_view word) { return lower.find(word) != lower.npos; };
  if (names("open mpi")) return MpiFamily::openmpi;
  return names("mpich") || names("intel") || names("mvapich") ? MpiFamily::mpich : MpiFamily::any;
}

std::string_view maker(MpiFamily family) { return family == MpiFamily::openmpi ? "Open MPI" : "MPICH"; }

}  // namespace

MpiFamily launcher_family(const EnvironmentVariable& variable) {
  if (variable("OMPI_COMM_WORLD_SIZE")) return MpiFamily::openmpi;
  // Slurm speaks PMI and PMIx with each of them.
  const bool by_hydra = variable("PMI_RANK") && !variable("PMIX_RANK") && !variable("SLURM_STEP_ID");
  return by_hydra ? MpiFamily::mpich : MpiFamily::any;
}

// libmpich.so.12 is Debian's name of MPICH. PMIx is what Open MPI is started by, and other MPIs seldom.
std::vector<std::string> mpi_names(const EnvironmentVariable& variable) {
  if (variable("OMPI_COMM_WORLD_SIZE") || variable("PMIX_RANK"))
    return {"libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so", "libmpi.so.12", "libmpich.so.12"};
  if (variable("PMI_RANK"))
    return {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12", "libmpi.so", "libmpi.so.40"};
  return {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpi.so.40", "libmpich.so.12", "libmpi.so"};
}

MpiVerdict judge(const MpiSigns& signs, MpiFamily launcher) {
  if (!signs.is_mpi) return {"", "no MPI of version 3 or newer"};
  if (signs.standard_abi <= 0 && signs.name.starts_with("libmpi_abi"))
    return {"", "a draft of the standard ABI, with other numbers"};
  const MpiFamily family = family_of(signs.text);
  if (launcher != MpiFamily::any && family != MpiFamily::any && family != launcher)
    return {"", fmt::format("{}, but the launcher is of {}", first_words(signs.text), maker(launcher))};
  if (signs.standard_abi > 0) return {"abi", ""};
  return {signs.is_openmpi ? "openmpi" : "mpich", ""};
}

// Open MPI goes on with its package after a comma, MPICH with its configuration on more lines.
std::string first_words(std::string_view text) {
  std::string words;
  for (const char c : text.substr(0, text.find_first_of(",\n"))) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank || !words.ends_with(' ')) words += blank ? ' ' : c;
  }
  return words;
}

}  // namespace sabath
