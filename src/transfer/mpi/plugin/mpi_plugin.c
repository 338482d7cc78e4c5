// One MPI behind the table of mpi_table.h. C99 that any mpicc compiles, with no other header of SABATH and no link to a
// library: the program loads the MPI first, and this finds its functions there. scripts/build-mpi-plugin compiles it, too.
#include "mpi_table.h"

#include <mpi.h>
#include <string.h>

// The name is the loader's choice, too: src/transfer/mpi/choice.h.
#if defined(OPEN_MPI)
#define OWN_ABI "openmpi"
#elif defined(MPI_ABI_VERSION) && !defined(MPICH_VERSION)
#define OWN_ABI "abi"
#else
#define OWN_ABI "mpich"
#endif

// A handle must fit: the array would have a negative size.
typedef char comm_fits[sizeof(MPI_Comm) <= sizeof(uint64_t) ? 1 : -1];
typedef char request_fits[sizeof(MPI_Request) <= sizeof(uint64_t) ? 1 : -1];

static MPI_Comm comm_of(sabath_mpi_comm boxed) {
  MPI_Comm comm;
  memcpy(&comm, &boxed.handle, sizeof comm);
  return comm;
}

static sabath_mpi_comm boxed_comm(MPI_Comm comm) {
  sabath_mpi_comm boxed = {0};
  memcpy(&boxed.handle, &comm, sizeof comm);
  return boxed;
}

static MPI_Request request_of(sabath_mpi_request boxed) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (boxed.handle != 0) memcpy(&request, &boxed.handle, sizeof request);
  return request;
}

static sabath_mpi_request boxed_request(MPI_Request request) {
  sabath_mpi_request boxed = {0};
  if (request != MPI_REQUEST_NULL) memcpy(&boxed.handle, &request, sizeof request);
  return boxed;
}

// The library may be newer than this header, and its texts longer.
enum { text_max = 16384 };

static void cut(const char* from, char* text, int room) {
  if (room <= 0) return;
  size_t length = strlen(from);
  if (length >= (size_t)room) length = (size_t)room - 1;
  memcpy(text, from, length);
  text[length] = '\0';
}

static void library(char* text, int room) {
  char whole[text_max] = "";
  int length = 0;
  MPI_Get_library_version(whole, &length);
  cut(whole, text, room);
}

static void error_text(int code, char* text, int room) {
  char whole[text_max] = "";
  int length = 0;
  MPI_Error_string(code, whole, &length);
  cut(whole, text, room);
}

static void host(char* text, int room) {
  char whole[text_max] = "";
  int length = 0;
  MPI_Get_processor_name(whole, &length);
  cut(whole, text, room);
}

static int init(int* has_threads) {
  int provided = MPI_THREAD_SINGLE;
  const int result = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  *has_threads = provided >= MPI_THREAD_FUNNELED;
  return result;
}

static int finalize(void) { return MPI_Finalize(); }

static void end_all(sabath_mpi_comm of, int exit_code) { MPI_Abort(comm_of(of), exit_code); }

static sabath_mpi_comm world(void) { return boxed_comm(MPI_COMM_WORLD); }

static int look(sabath_mpi_comm of, int* rank, int* size) {
  int result = MPI_Comm_set_errhandler(comm_of(of), MPI_ERRORS_RETURN);
  if (result == MPI_SUCCESS) result = MPI_Comm_rank(comm_of(of), rank);
  if (result == MPI_SUCCESS) result = MPI_Comm_size(comm_of(of), size);
  return result;
}

static int split(sabath_mpi_comm of, int joins, int key, sabath_mpi_comm* part) {
  MPI_Comm made = MPI_COMM_NULL;
  const int result = MPI_Comm_split(comm_of(of), joins ? 0 : MPI_UNDEFINED, key, &made);
  *part = boxed_comm(made);
  return result;
}

static int split_by_node(sabath_mpi_comm of, int key, sabath_mpi_comm* part) {
  MPI_Comm made = MPI_COMM_NULL;
  const int result = MPI_Comm_split_type(comm_of(of), MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &made);
  *part = boxed_comm(made);
  return result;
}

static int release(sabath_mpi_comm* of) {
  MPI_Comm comm = comm_of(*of);
  const int result = comm == MPI_COMM_WORLD ? MPI_SUCCESS : MPI_Comm_free(&comm);
  *of = boxed_comm(MPI_COMM_NULL);
  return result;
}

// Ends each function that begins something: `request` is its variable.
static int begun_as(int result, MPI_Request request, sabath_mpi_request* begun) {
  *begun = boxed_request(result == MPI_SUCCESS ? request : MPI_REQUEST_NULL);
  return result;
}

static int barrier(sabath_mpi_comm of, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = MPI_Ibarrier(comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int broadcast(sabath_mpi_comm of, void* bytes, int count, int root, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = MPI_Ibcast(bytes, count, MPI_BYTE, root, comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int gather(sabath_mpi_comm of, const void* mine, int count, void* all, int root, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = MPI_Igather(mine, count, MPI_BYTE, all, count, MPI_BYTE, root, comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int scatter(sabath_mpi_comm of, const void* all, int count, void* mine, int root, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = MPI_Iscatter(all, count, MPI_BYTE, mine, count, MPI_BYTE, root, comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int gather_to_all(sabath_mpi_comm of, const void* mine, int count, void* all, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int reduce(sabath_mpi_comm of, void* numbers, int count, sabath_mpi_operation how, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype type = MPI_UINT64_T;
  MPI_Op operation = MPI_SUM;
  if (how == SABATH_MPI_MINIMUM || how == SABATH_MPI_MAXIMUM) {
    type = MPI_INT64_T;
    operation = how == SABATH_MPI_MINIMUM ? MPI_MIN : MPI_MAX;
  } else if (how != SABATH_MPI_SUM) {
    operation = how == SABATH_MPI_BIT_AND ? MPI_BAND : MPI_BOR;
  }
  const int result = MPI_Iallreduce(MPI_IN_PLACE, numbers, count, type, operation, comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int send(sabath_mpi_comm of, const void* bytes, int count, int to, int tag, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = MPI_Isend(bytes, count, MPI_BYTE, to, tag, comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int receive(sabath_mpi_comm of, void* room, int count, int from, int tag, sabath_mpi_request* begun) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int source = from == SABATH_MPI_ANY_RANK ? MPI_ANY_SOURCE : from;
  const int result = MPI_Irecv(room, count, MPI_BYTE, source, tag, comm_of(of), &request);
  return begun_as(result, request, begun);
}

static int test(sabath_mpi_request* begun, int* done, int* received) {
  MPI_Request request = request_of(*begun);
  MPI_Status status;
  int result = MPI_Test(&request, done, received != NULL ? &status : MPI_STATUS_IGNORE);
  *begun = boxed_request(request);
  if (result == MPI_SUCCESS && *done && received != NULL) result = MPI_Get_count(&status, MPI_BYTE, received);
  return result;
}

static int cancel(sabath_mpi_request* begun) {
  MPI_Request request = request_of(*begun);
  int result = MPI_Cancel(&request);
  if (result == MPI_SUCCESS) result = MPI_Wait(&request, MPI_STATUS_IGNORE);
  *begun = boxed_request(request);
  return result;
}

#if defined(__GNUC__)
#define SHOWN __attribute__((visibility("default")))
#else
#define SHOWN
#endif

extern SHOWN const sabath_mpi_calls sabath_mpi_table;  // SABATH_MPI_TABLE_NAME
const sabath_mpi_calls sabath_mpi_table = {
    SABATH_MPI_TABLE_VERSION, sizeof(sabath_mpi_calls), OWN_ABI, library, error_text, init, finalize, end_all,
    world, look, split, split_by_node, release, host,
    barrier, broadcast, gather, scatter, gather_to_all, reduce, send, receive, test, cancel,
};
