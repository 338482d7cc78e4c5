#include "sftp/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/spawn.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

extern char** environ;

namespace sabath {
namespace {

constexpr std::size_t complaint_size_max = 16 * 1024;

pid_t spawn(std::vector<std::string> texts, int socket, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  keep_streams_only(&actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw Error(FailureKind::unavailable, fmt::format("cannot start `{}`: {}", texts[0], std::strerror(error)),
                "install the OpenSSH client, or add it to PATH");
  }
  return pid;
}

}  // namespace

Child::Child(const std::vector<std::string>& argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("make a socket pair", "", errno);
  socket_ = Fd(ends[0]);
  const Fd theirs(ends[1]);
  const int room = 4 * 1024 * 1024;  // fewer wake-ups of both; the kernel gives what it allows
  ::setsockopt(theirs.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  errors_ = Fd(::memfd_create("errors", MFD_CLOEXEC));
  if (!errors_) throw_errno("make a file in memory", "", errno);
  pid_ = spawn(argv, theirs.get(), errors_.get());
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)), errors_(std::move(other.errors_)) {}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);  // the session that it leads; it holds nothing that could be lost
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

std::vector<std::string> Child::complaints() const {
  std::string text(complaint_size_max, '\0');
  const ssize_t got = ::pread(errors_.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    if (const auto words = trim(line); !words.empty()) lines.push_back(printable(words));
  }
  return lines;
}

std::string Child::complaint() const {
  const auto lines = complaints();
  return lines.empty() ? "" : lines.back();
}

}  // namespace sabath
