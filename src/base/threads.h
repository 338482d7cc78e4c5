// Threads where the system grants few: ulimit -u, a cgroup's pids.max, little address space. Any thread.
#pragma once

#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sabath/error.h"

namespace sabath {

[[nodiscard]] inline Failure few_threads() {
  return {FailureKind::storage, "the system grants no more threads",
          "raise the limit of processes and threads (`ulimit -u`, a cgroup's pids.max) or of address space (`ulimit "
          "-v`), or end other programs; a fetch needs about ten",
          std::nullopt};
}

// For what cannot be done without a thread of its own. Throws Error{storage} that names the limits.
template <typename Work>
[[nodiscard]] std::jthread start_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error&) {
    throw Error(few_threads());
  }
}

// For what one more thread only makes quicker. False: none is to be had, and those that there are have to do.
template <typename Work>
[[nodiscard]] bool try_add_thread(std::vector<std::jthread>& threads, Work&& work) {
  try {
    threads.emplace_back(std::forward<Work>(work));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace sabath
