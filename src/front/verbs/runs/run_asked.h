// What `run` is asked by its name and on the command line: a request of sabath/verbs/run.h, and what it is for.
#pragma once

#include "sabath/verbs/run.h"

namespace sabath {

struct RunAsked {
  RunRequest run;
  bool dry_run = false;    // foresee() instead of run()
  bool no_verify = false;  // another way to say that nothing is verified
};

// Throws Error{usage} for two words that exclude each other.
[[nodiscard]] RunRequest run_request_of(const RunAsked& asked);

}  // namespace sabath
