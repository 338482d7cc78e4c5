#include "hdf5/own_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include "base/file.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr char answered = 'a', failed = 'f';
constexpr int poll_ms = 50;  // how soon a stop request is seen

// answer: 'a' and the text. Failure: 'f', the kind as a byte, the message, NUL, the hint.
std::string encode(const Failure& failure) {
  std::string text{failed, static_cast<char>(failure.kind)};
  return text + failure.message + '\0' + failure.hint;
}

[[noreturn]] void rethrow(std::string_view text) {
  const auto kind = static_cast<FailureKind>(text.at(1));
  text.remove_prefix(2);
  const auto end = text.find('\0');
  throw Error(kind, std::string(text.substr(0, end)), std::string(text.substr(end + 1)));
}

std::uint64_t address_space_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_CORE) resource, std::uint64_t value) {
  const rlimit bound{value, value};
  ::setrlimit(resource, &bound);
}

void bound_this_process(const ProcessBounds& bounds, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);  // the parent answers them
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGXCPU}) ::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, address_space_bytes() + bounds.memory_bytes);
}

// The soft limit of processor time, which ends the process by SIGXCPU, is moved on with each sign of life.
class Clock {
 public:
  explicit Clock(std::chrono::seconds stalled) : stalled_(stalled) {}

  void move_on() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto now = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    if (now < next_) return;
    next_ = now + 1;
    rlimit bound{};
    ::getrlimit(RLIMIT_CPU, &bound);
    bound.rlim_cur = std::min(bound.rlim_max, next_ + static_cast<rlim_t>(stalled_.count()));
    ::setrlimit(RLIMIT_CPU, &bound);
  }

 private:
  std::chrono::seconds stalled_;
  rlim_t next_ = 0;
};

std::string answer_of(const std::function<std::string(const SignOfLife&)>& work, Clock& clock) {
  try {
    clock.move_on();
    return answered + work([&] { clock.move_on(); });
  } catch (const Error& error) {
    return encode(error.failure());
  } catch (const std::bad_alloc&) {
    return encode({FailureKind::invalid, "cannot read it within the memory that is allowed",
                   "a size in the file is absurd, or too large for this program", std::nullopt});
  } catch (const std::exception& error) {
    return encode({FailureKind::internal, fmt::format("internal error: {}", error.what()), "", std::nullopt});
  }
}

[[noreturn]] void be_the_child(const std::function<std::string(const SignOfLife&)>& work, const ProcessBounds& bounds,
                               int out, pid_t parent, const sigset_t& mask) {
  bound_this_process(bounds, parent);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  Clock clock(bounds.stalled);
  const std::string answer = answer_of(work, clock);
  try {
    write_all(out, std::as_bytes(std::span(answer)), "a pipe");
  } catch (const Error&) {
    ::_exit(1);  // nobody listens any more
  }
  ::_exit(0);
}

class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    (void)wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

std::string read_all(int in, const ProcessBounds& bounds, std::string_view what, const std::stop_token& stop) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    pollfd ready{in, POLLIN, 0};
    const int count = ::poll(&ready, 1, poll_ms);
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, fmt::format("interrupted while reading {}", what));
    if (count <= 0) continue;
    const ssize_t n = ::read(in, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("read the answer about", std::string(what), errno);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > bounds.answer_bytes) {
      throw Error(FailureKind::invalid, fmt::format("cannot tell of {}: the answer is too long", what));
    }
  }
}

}  // namespace

std::string in_own_process(const std::function<std::string(const SignOfLife&)>& work, std::string_view what,
                           const ProcessBounds& bounds, std::stop_token stop) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("make a pipe for", std::string(what), errno);
  Fd in(ends[0]), out(ends[1]);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of the caller's runs in the child
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) be_the_child(work, bounds, out.get(), parent, before);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) throw_errno("start a process for", std::string(what), error);
  Child child(pid);
  out.reset();
  const std::string text = read_all(in.get(), bounds, what, stop);
  const int status = child.wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !text.empty()) {
    if (text.front() == failed) rethrow(text);
    return text.substr(1);
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    throw Error(FailureKind::internal, fmt::format("the process that read {} was killed", what),
                "the machine may be out of memory: see the system's log");
  }
  if (!WIFSIGNALED(status)) {
    throw Error(FailureKind::internal, fmt::format("the process that read {} ended without an answer", what));
  }
  throw Error(FailureKind::invalid,
              fmt::format("cannot read {}: HDF5 died of it ({})", what, ::strsignal(WTERMSIG(status))),
              "the file is damaged or hostile: do not trust it");
}

}  // namespace sabath
