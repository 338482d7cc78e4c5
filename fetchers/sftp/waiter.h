// Waiting for a peer without missing a stop request: every blocking step of an SFTP read goes through here.
// Owned by one read; one thread. Throws Error{interrupted} after a stop request, Error{network} when patience ends.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/file.h"

namespace sabath {

class Waiter {
 public:
  using Clock = std::chrono::steady_clock;

  // `what` begins every message: "cannot read sftp://host/file".
  Waiter(std::string what, std::stop_token stop, std::chrono::milliseconds stall);

  // Until `fd` has one of `events` (poll(2)), or an error to be read from it.
  void wait(int fd, short events) const;
  void check_stop() const;

  // Everything until end_deadline() must be done within `limit`, however busy the peer looks.
  void begin_deadline(std::chrono::milliseconds limit) { deadline_ = Clock::now() + limit; }
  void end_deadline() { deadline_.reset(); }

  [[nodiscard]] const std::string& what() const noexcept { return what_; }

 private:
  struct Wake {
    int fd;
    void operator()() const noexcept;
  };
  [[noreturn]] void fail_stuck() const;

  std::string what_;
  std::stop_token stop_;
  std::chrono::milliseconds stall_;
  std::optional<Clock::time_point> deadline_;
  Fd wake_;
  std::stop_callback<Wake> callback_;
};

}  // namespace sabath
