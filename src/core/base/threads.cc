#include "base/threads.h"

#include <ctime>

namespace sabath {
SignalsBlocked::SignalsBlocked() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) ::sigdelset(&all, own);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

WritesFail::WritesFail() noexcept {
  sigset_t pending, both;
  ::sigpending(&pending);
  ::sigemptyset(&both);
  ::sigemptyset(&ours_);
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    ::sigaddset(&both, number);
    if (::sigismember(&pending, number) == 0) ::sigaddset(&ours_, number);
  }
  ::pthread_sigmask(SIG_BLOCK, &both, &before_);
}

WritesFail::~WritesFail() {
  constexpr timespec at_once{};
  while (::sigtimedwait(&ours_, nullptr, &at_once) > 0) {}
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace sabath
