// The ranks of an MPI job, as the program's frame sees them: started when a launcher has started several, silent but
// for rank 0, and ended with one exit code. Main thread.
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

// Whether a launcher itself has started this process as one of several ranks, and not as the first: then another one
// says what all of them would say. A rank's script that calls the program is not silenced.
[[nodiscard]] bool is_later_rank(const Environment& environment);

// Collective. The exit code of all ranks: rank 0's, and which signal it was if any rank had one.
[[nodiscard]] int agreed_code(Comm& comm, int code, const Signals& signals);

}  // namespace sabath::cli
