// The ranks of an MPI job, as the program's frame sees them. MPI starts when a launcher has started several processes;
// only rank 0 prints; all ranks end with one exit code. Main thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/frame/signals.h"
#include "mpi/session.h"
#include "sabath/comm.h"
#include "sabath/environment.h"

namespace sabath::cli {

// Collective for verbs that ranks do together; nullptr for all others, with --alone, without a launcher or with one
// rank. A process that is not under a launcher never starts MPI. Ends the process with the code of Error{nodes} if MPI
// does not start within SABATH_MPI_START_SECONDS (300). Throws Error{nodes}, Error{usage}.
[[nodiscard]] std::unique_ptr<MpiSession> start_ranks(const std::vector<std::string>& arguments,
                                                      const Environment& environment);

// True if a launcher has started this very process as one of several ranks, and not as the first: rank 0 then prints
// for all of them. A program that a rank's script calls is not silenced.
[[nodiscard]] bool is_later_rank(const Environment& environment);

// True if a launcher says that this process is the first rank of its node; false where it says nothing of that.
[[nodiscard]] bool is_first_of_node(const Environment& environment);

// Collective. The exit code of all ranks: rank 0's, and which signal it was if any rank had one.
[[nodiscard]] int agreed_code(Comm& comm, int code, const Signals& signals);

}  // namespace sabath::cli
