#include "base/threads.h"

#include <ctime>

namespace sabath {
namespace {

sigset_t pipe_alone() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

SignalsBlocked::SignalsBlocked() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) ::sigdelset(&all, own);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

PipesFail::PipesFail() noexcept {
  sigset_t pending;
  ::sigpending(&pending);
  was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
  const sigset_t pipe = pipe_alone();
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

PipesFail::~PipesFail() {
  constexpr timespec at_once{};
  const sigset_t pipe = pipe_alone();
  if (!was_pending_) ::sigtimedwait(&pipe, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace sabath
