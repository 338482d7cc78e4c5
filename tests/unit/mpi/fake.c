// An MPI that has no more than what the search looks at (LIBRARY), a plug-in that is only its table (TABLE), or neither.
#include <string.h>

#include "mpi/plugin/mpi_table.h"

#ifdef LIBRARY
int MPI_Iallreduce(void) { return 1; }
int MPI_Get_library_version(char* text, int* length) {
  strcpy(text, LIBRARY);
  *length = (int)strlen(text);
  return 0;
}
#ifdef OWN
int OWN = 1;
#endif
#ifdef ABI
int MPI_Abi_get_version(int* major, int* minor) {
  *major = ABI;
  *minor = 0;
  return 0;
}
#endif
#elif defined(TABLE)
const sabath_mpi_calls sabath_mpi_table = {.version = TABLE, .size = sizeof(sabath_mpi_calls), .abi = "mpich"};
#else
int nothing_of_an_mpi = NOTHING + 0;
#endif
