// Threads where the system grants few: ulimit -u, a cgroup's pids.max, little address space. They take no signal sent
// to the process: those are for the threads of the host program. Any thread.
#pragma once

#include <csignal>
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

// While it lives, threads that are made here begin with all signals blocked but those of their own faults; a write to
// a closed pipe fails there with EPIPE.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// While it lives, a write of this thread to a closed pipe or connection fails with EPIPE, one beyond the limit of a
// file's size with EFBIG, and no SIGPIPE or SIGXFSZ comes of it. A signal that was pending before stays so.
class WritesFail {
 public:
  WritesFail() noexcept;
  ~WritesFail();
  WritesFail(const WritesFail&) = delete;
  WritesFail& operator=(const WritesFail&) = delete;

 private:
  sigset_t before_{}, ours_{};  // ours: of the two, those that were not pending
};

// For work that needs a thread of its own. Throws Error{storage} that names the limits.
template <typename Work>
[[nodiscard]] std::jthread start_thread(Work&& work) {
  const SignalsBlocked blocked;
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error&) {
    throw Error(few_threads());
  }
}

// For work that one more thread only makes quicker. False: the system grants none, and the threads there are must do.
template <typename Work>
[[nodiscard]] bool try_add_thread(std::vector<std::jthread>& threads, Work&& work) {
  const SignalsBlocked blocked;
  try {
    threads.emplace_back(std::forward<Work>(work));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace sabath
