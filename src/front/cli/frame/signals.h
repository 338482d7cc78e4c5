// SIGINT, SIGTERM and SIGHUP as a stop request: the first one lets a verb that keeps state finish cleanly, the second
// one ends the process at once. A launcher may send its SIGTERM twice (Slurm does, to the step and by srun): a signal
// within a second of the first counts as the same one. These are handlers, not a mask, so that a child process (git, a
// launcher) starts with the ordinary signals.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace sabath::cli {

class Signals {
 public:
  // Installs the handlers and a thread that answers them, if the system grants one; SIGPIPE and SIGXFSZ become write
  // errors. Once a process, from main.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void let_finish() noexcept { graceful_ = true; }  // from here on the first signal only asks
  void let_reload() noexcept { reloads_ = true; }   // SIGHUP asks for a reload from here on, not for an end
  void ignore() noexcept { over_ = true; }          // the exit code is decided, and the ranks end with it
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] int received() const noexcept { return received_; }          // the first signal's number, or 0
  [[nodiscard]] unsigned reloads() const noexcept { return reload_count_; }  // asked for until now
  // The library ends a stop with SIGINT's code; only this class knows which signal asked for it. The ranks of a stopped
  // job do not end at the same moment: a rank that fails because the others are gone was stopped, too.
  [[nodiscard]] int code_after(int code) const noexcept;

 private:
  void answer();
  std::stop_source stop_;
  std::atomic<bool> graceful_{false}, over_{false}, reloads_{false};
  std::atomic<unsigned> reload_count_{0};
  std::atomic<int> received_{0};
  std::chrono::steady_clock::time_point received_at_;
  int pipe_read_ = -1;
  std::thread thread_;
};

// The exit code of a process that a signal ended: 130 for SIGINT, 143 for the others.
[[nodiscard]] int exit_code_of_signal(int signal) noexcept;

}  // namespace sabath::cli
