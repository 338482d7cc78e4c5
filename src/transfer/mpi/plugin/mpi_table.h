// What SABATH asks of an MPI, as one table of C functions. Each MPI has a plug-in that fills it (mpi_plugin.c),
// compiled with that MPI's <mpi.h>; the program sees this header only, and so works with any of them. Main thread only,
// after init() and before finalize(), but for library() and error_text(). No function throws. They return 0 or an error
// code of this MPI, which error_text() explains. Counts are bytes.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SABATH_MPI_TABLE_VERSION \
  1  // any change of the struct below, of its meaning or of the rules above makes it another
#define SABATH_MPI_TABLE_NAME "sabath_mpi_table"  // the one name that a plug-in shows
#define SABATH_MPI_ANY_RANK (-1)

// The bytes of the MPI's own handle, an int or a pointer, and zeros after them. No request: 0.
typedef struct sabath_mpi_comm {
  uint64_t handle;
} sabath_mpi_comm;
typedef struct sabath_mpi_request {
  uint64_t handle;
} sabath_mpi_request;

// Of signed 64-bit numbers: minimum and maximum (MPICH 4.0.2 compares unsigned ones as if they were signed). Of
// unsigned ones: the others.
typedef enum sabath_mpi_operation {
  SABATH_MPI_SUM,
  SABATH_MPI_MINIMUM,
  SABATH_MPI_MAXIMUM,
  SABATH_MPI_BIT_AND,
  SABATH_MPI_BIT_OR
} sabath_mpi_operation;

typedef struct sabath_mpi_calls {
  uint32_t version;  // SABATH_MPI_TABLE_VERSION, and first for ever
  uint32_t size;     // of this struct
  const char* abi;   // "openmpi", "mpich" or "abi"

  void (*library)(char* text, int room);               // the MPI's own version text
  void (*error_text)(int code, char* text, int room);  // cut to the room, as all texts

  int (*init)(int* has_threads);  // MPI_THREAD_FUNNELED; has_threads: whether it is granted
  int (*finalize)(void);
  void (*abort)(sabath_mpi_comm of, int exit_code);

  sabath_mpi_comm (*world)(void);
  int (*look)(sabath_mpi_comm of, int* rank, int* size);  // from here on its errors are returned
  int (*split)(sabath_mpi_comm of, int joins, int key, sabath_mpi_comm* part);
  int (*split_by_node)(sabath_mpi_comm of, int key, sabath_mpi_comm* part);
  int (*release)(sabath_mpi_comm* of);
  void (*host)(char* text, int room);

  // Each begins something. The buffers live until test() or cancel() has ended it.
  int (*barrier)(sabath_mpi_comm of, sabath_mpi_request* begun);
  int (*broadcast)(sabath_mpi_comm of, void* bytes, int count, int root, sabath_mpi_request* begun);
  int (*gather)(sabath_mpi_comm of, const void* mine, int count, void* all, int root, sabath_mpi_request* begun);
  int (*scatter)(sabath_mpi_comm of, const void* all, int count, void* mine, int root, sabath_mpi_request* begun);
  int (*gather_to_all)(sabath_mpi_comm of, const void* mine, int count, void* all, sabath_mpi_request* begun);
  int (*reduce)(sabath_mpi_comm of, void* numbers, int count_of_numbers, sabath_mpi_operation how,
                sabath_mpi_request* begun);  // in place, to all
  int (*send)(sabath_mpi_comm of, const void* bytes, int count, int to, int tag, sabath_mpi_request* begun);
  int (*receive)(sabath_mpi_comm of, void* room, int count, int from, int tag, sabath_mpi_request* begun);

  int (*test)(sabath_mpi_request* begun, int* done, int* received);  // done: the request is 0; received may be NULL
  int (*cancel)(sabath_mpi_request* begun);                          // of a receive; waits for its end
} sabath_mpi_calls;

#ifdef __cplusplus
}
#endif
