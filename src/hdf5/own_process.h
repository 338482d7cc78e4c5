// Work on a hostile file, in a process of its own: HDF5 parses what strangers wrote, in C, and has crashed, looped and
// taken all memory on damaged files. A death of that process is an Error here, not the death of the caller.
//
// The process is a fork: its work may use what the caller has, holds no lock of another thread, and ends without
// running exit handlers. Not for a process that has started MPI. Main thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace sabath {

struct ProcessBounds {
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // beyond what the caller has now
  std::uint64_t answer_bytes = std::uint64_t{256} << 20;
  std::chrono::seconds cpu{0};  // 0: no bound
};

// What `work` returned, or the Error that it threw. Error{invalid} if the process died of a signal or used up its time,
// naming `what`; Error{interrupted} after a stop request: the process is then dead.
[[nodiscard]] std::string in_own_process(const std::function<std::string()>& work, std::string_view what,
                                         const ProcessBounds& bounds, std::stop_token stop);

}  // namespace sabath
