#include "companion/guardian.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "companion/isolation.h"
#include "run/guarded_process.h"

namespace sabath::companion {
namespace {

constexpr int left_behind_ms = 2000;  // time after SIGTERM for the processes that a program left

void tell(int channel, GuardianNews::Kind kind, int value) {
  const GuardianNews news{kind, value};
  [[maybe_unused]] const auto sent = ::send(channel, &news, sizeof news, MSG_NOSIGNAL);
}

void default_signals() {
  for (int number = 1; number < 32; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The program, with pointers into its texts: the constructor allocates all that is needed later.
class Guarded {
 public:
  explicit Guarded(ProgramToGuard program) : program_(std::move(program)) {
    for (std::string& text : program_.argv) argv_.push_back(text.data());
    for (std::string& text : program_.environment) environment_.push_back(text.data());
    argv_.push_back(nullptr);
    environment_.push_back(nullptr);
  }

  // In the guardian's child.
  [[noreturn]] void become(pid_t guardian, int channel) const {
    ::setpgid(0, 0);
    if (program_.no_network) tell(channel, GuardianNews::isolated, static_cast<std::int32_t>(leave_network()));
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // should the guardian itself be killed
    if (::getppid() != guardian) ::_exit(127);
    default_signals();
    const bool ready = bound_memory() && (program_.directory.empty() || ::chdir(program_.directory.c_str()) == 0);
    if (ready) ::execve(program_.file.c_str(), argv_.data(), environment_.data());
    tell(channel, GuardianNews::not_started, errno);
    ::_exit(127);
  }

 private:
  [[nodiscard]] bool bound_memory() const {
    if (program_.memory_bytes == 0) return true;
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0) return false;
    limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(program_.memory_bytes, limit.rlim_max);
    return ::setrlimit(RLIMIT_AS, &limit) == 0;
  }

  ProgramToGuard program_;
  std::vector<char*> argv_, environment_;
};

// Moves the channel off standard input, so that the program does not get it; standard input becomes /dev/null.
int keep_from_program(int channel) {
  const int kept = ::fcntl(channel, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (kept < 0 || nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) return -1;
  return kept;
}

// The guardian closes its copies of the program's streams, so that they end with the last process of the program.
void let_go_of_streams() {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(STDIN_FILENO, stream);
}

// The parent of process `name`, from /proc/NAME/stat, whose second field may hold anything between brackets.
pid_t parent_of(const char* name) {
  std::array<char, 64> path{"/proc/"};
  if (std::strlen(name) > 16) return -1;
  std::strcat(path.data(), name);
  std::strcat(path.data(), "/stat");
  const int fd = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  std::array<char, 512> text{};
  const ssize_t n = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  const char* bracket = n > 0 ? std::strrchr(text.data(), ')') : nullptr;
  if (bracket == nullptr || std::strlen(bracket) < 5) return -1;
  return static_cast<pid_t>(std::atoi(bracket + 4));  // ") S PPID"
}

struct Entry {  // of getdents64(2): readdir(3) would allocate
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// To each child of the guardian: the program's own, and every orphan below it.
void signal_children(int number) {
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return;
  const pid_t self = ::getpid();
  alignas(Entry) std::array<char, 32768> buffer;
  long n = 0;
  while ((n = ::syscall(SYS_getdents64, proc, buffer.data(), buffer.size())) > 0) {
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer.data() + at);
      const char* name = entry->name;
      at += entry->length;
      if (*name < '1' || *name > '9' || parent_of(name) != self) continue;
      ::kill(static_cast<pid_t>(std::atoi(name)), number);
    }
  }
  ::close(proc);
}

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

class Guard {
 public:
  Guard(const Guarded& program, int channel) : program_(program), channel_(channel) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_SETMASK, &child, nullptr);
    deaths_ = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    // A child of the host may hold the channel's other end, too, and outlive it. -1: this kernel tells of no deaths.
    host_ = static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0));
  }

  int run() {
    const pid_t self = ::getpid();
    child_ = ::fork();
    if (child_ == 0) program_.become(self, channel_);
    if (child_ < 0) {
      tell(channel_, GuardianNews::not_started, errno);
      return 1;
    }
    ::setpgid(child_, child_);
    let_go_of_streams();
    while (!ended_ && !alone_) wait(-1);
    end_the_rest();
    return 0;
  }

 private:
  // Until something happens, or the time is over.
  void wait(int timeout_ms) {
    std::array<pollfd, 3> fds{
        {{deaths_, POLLIN, 0}, {alone_ ? -1 : channel_, POLLIN, 0}, {alone_ ? -1 : host_, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), timeout_ms);
    if (fds[1].revents != 0) obey();
    if (fds[2].revents != 0) alone_ = true;
    std::array<signalfd_siginfo, 8> ignored;
    while (::read(deaths_, ignored.data(), sizeof ignored) > 0) {}
    reap();
  }

  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid != child_) continue;
      ended_ = true;
      tell(channel_, GuardianNews::ended, status);
    }
    none_left_ = pid < 0 && errno == ECHILD;
  }

  void obey() {
    unsigned char number = 0;
    const ssize_t n = ::recv(channel_, &number, 1, 0);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) {
      alone_ = true;
    } else if (number == 0) {
      merciless_ = true;
      ended_ ? signal_children(SIGKILL) : void(::kill(-child_, SIGKILL));
    } else if (!ended_) {
      ::kill(-child_, number);
    }
  }

  // When a child dies its own children become ours, so the loop reaches all of them.
  void end_the_rest() {
    reap();
    const std::int64_t patience_ends = now_ms() + (alone_ || merciless_ ? 0 : left_behind_ms);
    if (!none_left_ && !alone_ && !merciless_) signal_children(SIGTERM);
    while (!none_left_) {
      const bool patient = now_ms() < patience_ends && !alone_ && !merciless_;
      if (!patient) signal_children(SIGKILL);
      wait(patient ? 50 : 5);
    }
  }

  const Guarded& program_;
  const int channel_;
  int deaths_ = -1, host_ = -1;
  pid_t child_ = 0;
  bool ended_ = false, alone_ = false, merciless_ = false, none_left_ = false;
};

}  // namespace

int stand_guard(int channel, std::string_view request) {
  const Guarded program(ProgramToGuard::parse(request));
  for (const int number : {SIGQUIT, SIGPIPE, SIGTSTP}) ::signal(number, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "sabath-guardian");
  const int kept = keep_from_program(channel);
  if (kept < 0) {
    tell(channel, GuardianNews::not_started, errno);
    return 1;
  }
  return Guard(program, kept).run();
}

}  // namespace sabath::companion
