#include "cli/frame/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/file.h"
#include "sabath/error.h"

namespace sabath::cli {
namespace {

constexpr std::array asking{SIGINT, SIGTERM, SIGHUP};
constexpr std::chrono::seconds same_wish{1};

// A handler may only touch what is async-signal-safe: it passes the number on through a pipe.
volatile sig_atomic_t pipe_write = -1;

void pass_on(int signal) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const auto written = ::write(pipe_write, &byte, 1);
  errno = saved;
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (::sigaction(signal, &action, nullptr) != 0) throw_errno("install a signal handler for", "the process", errno);
}

// nohup and the like: a signal that the caller ignores stays ignored.
bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

int exit_code_of_signal(int signal) noexcept { return signal == SIGINT ? 130 : 143; }

int Signals::code_after(int code) const noexcept {
  const bool may_be_stop = code == exit_code_of_signal(SIGINT) || code == exit_code(FailureKind::nodes);
  return may_be_stop && received_ != 0 ? exit_code_of_signal(received_) : code;
}

Signals::Signals() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("make a pipe for", "signals", errno);
  pipe_read_ = ends[0];
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  pipe_write = ends[1];
  try {
    thread_ = std::thread([this] { answer(); });
  } catch (const std::system_error&) {
  }  // a signal then ends the process at once: what is verified is kept all the same
  for (const int signal : asking) {
    if (thread_.joinable() && !is_ignored(signal)) install(signal, pass_on);
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) {  // the call that raised it fails with EPIPE, EFBIG instead
    install(signal, [](int) {});                 // not SIG_IGN, which a child would inherit
  }
}

Signals::~Signals() {
  for (const int signal : asking) {  // a launcher may send its signal again while the process ends with its exit code
    if (!is_ignored(signal)) install(signal, signal == received_ ? SIG_IGN : SIG_DFL);
  }
  ::close(pipe_write);  // the thread reads the end of it
  pipe_write = -1;
  if (thread_.joinable()) thread_.join();
  ::close(pipe_read_);
}

void Signals::answer() {
  unsigned char signal = 0;
  while (true) {
    const ssize_t count = ::read(pipe_read_, &signal, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    if (over_) continue;
    if (signal == SIGHUP && reloads_) {
      ++reload_count_;
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    if (received_ == SIGTERM && signal == SIGTERM && now - received_at_ < same_wish) continue;
    if (received_ != 0 || !graceful_) ::_exit(exit_code_of_signal(signal));
    received_at_ = now;
    received_ = signal;
    stop_.request_stop();
  }
}

}  // namespace sabath::cli
