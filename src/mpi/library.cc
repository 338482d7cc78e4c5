#include "mpi/library.h"

#ifdef SABATH_WITH_MPI
#include <mpi.h>

#include <array>
#include <string_view>
#endif

namespace sabath {

std::optional<std::string> mpi_library() {
#ifdef SABATH_WITH_MPI
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> buffer{};
  int length = 0;
  MPI_Get_library_version(buffer.data(), &length);
  std::string_view text(buffer.data());
  // Open MPI goes on with its package after a comma, MPICH with its configuration on more lines.
  text = text.substr(0, text.find_first_of(",\n"));
  std::string words(text);
  for (char& c : words) {
    if (c == '\t') c = ' ';
  }
  return words;
#else
  return std::nullopt;
#endif
}

}  // namespace sabath
