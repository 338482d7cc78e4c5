#include "sftp/waiter.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sabath/error.h"

namespace sabath {
namespace {

Fd make_event() {
  Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) throw_errno("make an eventfd", "", errno);
  return fd;
}

}  // namespace

void Waiter::Wake::operator()() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

Waiter::Waiter(std::string what, std::stop_token stop, std::chrono::milliseconds stall)
    : what_(std::move(what)),
      stop_(std::move(stop)),
      stall_(stall),
      wake_(make_event()),
      callback_(stop_, Wake{wake_.get()}) {}

void Waiter::check_stop() const {
  if (stop_.stop_requested()) throw Error(FailureKind::interrupted, what_ + ": stopped");
}

void Waiter::fail_stuck() const {
  const double seconds = std::chrono::duration<double>(stall_).count();
  throw Error(FailureKind::network,
              deadline_ ? what_ + ": the login took too long" : fmt::format("{}: no byte for {} s", what_, seconds),
              "the server or the path to it is stuck; another mirror may do better");
}

void Waiter::wait(int fd, short events) const {
  const auto until = deadline_ ? *deadline_ : Clock::now() + stall_;  // who logs in computes, and is silent for a while
  for (;;) {
    check_stop();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) fail_stuck();
    std::array<pollfd, 2> fds = {pollfd{fd, events, 0}, pollfd{wake_.get(), POLLIN, 0}};
    const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) throw_errno("wait for", what_, errno);
    if (ready > 0 && fds[0].revents != 0) return;
  }
}

}  // namespace sabath
