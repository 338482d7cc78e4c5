// Runs a program and stops it at each system call of a list, in all its threads and children: seccomp(2) stops those
// calls alone, so that all others run at full speed. Linux on x86-64 and aarch64. One thread. Throws std::system_error.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calls.h"

namespace sabath::crash {

// A thread that stands at the entry of a call, or right after it.
class Stopped {
 public:
  Stopped(pid_t thread, const Call& call, const std::array<std::uint64_t, 6>& arguments)
      : thread_(thread), call_(&call), arguments_(arguments) {}
  [[nodiscard]] const Call& call() const noexcept { return *call_; }
  [[nodiscard]] std::uint64_t argument(int index) const { return arguments_.at(static_cast<std::size_t>(index)); }
  // The absolute path of the file; empty if it is not known.
  [[nodiscard]] std::filesystem::path path(const Place& place) const;
  [[nodiscard]] std::filesystem::path open_file(int descriptor) const;  // its link below /proc
  [[nodiscard]] std::string bytes(std::uint64_t address, std::size_t size) const;
  void fail(int error) const;                // instead of the call
  void shorten(std::uint64_t length) const;  // a write
  [[nodiscard]] pid_t thread() const noexcept { return thread_; }

 private:
  [[nodiscard]] std::string text(std::uint64_t address) const;
  pid_t thread_;
  const Call* call_;
  std::array<std::uint64_t, 6> arguments_;
};

enum class Then { go_on, look_again /* when it has returned */, kill };
struct Hooks {
  std::function<Then(const Stopped&)> before;
  std::function<Then(const Stopped&, std::int64_t result)> after;  // of those that shall be looked at again
};

// The status of waitpid(2); `numbers`: the calls to stop at.
[[nodiscard]] int run_traced(const std::vector<std::string>& command, const std::vector<long>& numbers,
                             const Hooks& hooks);

}  // namespace sabath::crash
