// The rate of MPI itself from rank 0 to rank 1: GB/s of messages of 1 and of 4 MiB, four in flight. And the time that
// it takes to start.
//   mpirun -n 2 rate [SECONDS]     a line of JSON; at most SECONDS (1) for each size
//   mpirun -n N rate idle          nothing but MPI_Init and MPI_Finalize
// "single_copy" says whether a process may read another's memory here: without, Open MPI copies twice in shared memory.
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

constexpr int in_flight = 4, warm_rounds = 8, source = 0, sink = 1;
constexpr int data_tag = 1, end_tag = 2;

bool reads_other_memory(int rank) {
  std::array<std::uint64_t, 2> where{static_cast<std::uint64_t>(getpid()), 0};
  const std::uint64_t expected = 0x5ab47;
  std::uint64_t held = rank == source ? expected : 0;
  where[1] = reinterpret_cast<std::uint64_t>(&held);
  MPI_Bcast(where.data(), 2, MPI_UINT64_T, source, MPI_COMM_WORLD);
  int reads = 0;
  if (rank == sink) {
    std::uint64_t seen = 0;
    const iovec to{&seen, sizeof seen};
    const iovec from{reinterpret_cast<void*>(where[1]), sizeof seen};
    reads = process_vm_readv(static_cast<pid_t>(where[0]), &to, 1, &from, 1, 0) == sizeof seen && seen == expected;
  }
  MPI_Bcast(&reads, 1, MPI_INT, sink, MPI_COMM_WORLD);
  return reads != 0;
}

// All buffers once around. Every message has been received when this returns.
void turn(int rank, std::vector<std::vector<char>>& buffers) {
  std::array<MPI_Request, in_flight> requests;
  for (int i = 0; i < in_flight; ++i) {
    char* const data = buffers[i].data();
    const int size = static_cast<int>(buffers[i].size());
    if (rank == source)
      MPI_Isend(data, size, MPI_BYTE, sink, data_tag, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(data, size, MPI_BYTE, source, data_tag, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(in_flight, requests.data(), MPI_STATUSES_IGNORE);
}

double gigabytes_a_second(int rank, std::size_t size, double seconds) {
  std::vector<std::vector<char>> buffers(in_flight, std::vector<char>(size, 'x'));
  for (int i = 0; i < warm_rounds; ++i) turn(rank, buffers);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double passed = 0;
  std::uint64_t moved = 0;
  for (int go = 1; go != 0;) {
    for (int i = 0; i < warm_rounds; ++i) turn(rank, buffers);
    moved += std::uint64_t{size} * in_flight * warm_rounds;
    passed = MPI_Wtime() - start;
    go = passed < seconds ? 1 : 0;  // the sink's clock decides: its bytes have arrived
    if (rank == sink) MPI_Send(&go, 1, MPI_INT, source, end_tag, MPI_COMM_WORLD);
    if (rank == source) MPI_Recv(&go, 1, MPI_INT, sink, end_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(&passed, 1, MPI_DOUBLE, sink, MPI_COMM_WORLD);
  return static_cast<double>(moved) / passed / 1e9;
}

}  // namespace

int main(int count, char** words) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // as Open MPI asks for itself
  MPI_Init(&count, &words);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view word = count > 1 ? words[1] : "1";
  if (word != "idle") {
    const double seconds = count > 1 ? std::atof(words[1]) : 1;
    if (ranks != 2 || seconds <= 0) {
      if (rank == source) std::fputs("rate: two ranks, and seconds > 0\n", stderr);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const bool single = reads_other_memory(rank);
    const double one = gigabytes_a_second(rank, 1U << 20, seconds);
    const double four = gigabytes_a_second(rank, 4U << 20, seconds);
    if (rank == source)
      std::printf(R"({"single_copy": %s, "1_MiB_GB_s": %.4f, "4_MiB_GB_s": %.4f})"
                  "\n",
                  single ? "true" : "false", one, four);
  }
  MPI_Finalize();
  return 0;
}
