#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "sabath/error.h"

extern char** environ;

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("make a pipe", "", errno);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

std::vector<std::string> merged_environment(const Command& command) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (const auto equals = text.find('='); equals != std::string::npos)
      merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : command.environment) {
    if (value.empty())
      merged.erase(name);
    else
      merged[name] = value;
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : merged) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t spawn(const Command& command, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
  if (!command.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  auto argv_texts = command.argv;
  auto environment_texts = merged_environment(command);
  const auto argv = pointers(argv_texts);
  const auto environment = pointers(environment_texts);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw Error(FailureKind::command, fmt::format("cannot start `{}`: {}", command.argv[0], std::strerror(error)),
                error == ENOENT ? fmt::format("install {} or add it to PATH", command.argv[0]) : "");
  }
  return pid;
}

// Reads what is there into `text` (the first `max` bytes are kept); false at the end of the stream.
bool drain(int fd, std::string& text, std::size_t max) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n > 0) text.append(buffer.data(), std::min<std::size_t>(static_cast<std::size_t>(n), max - text.size()));
  return n > 0;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

CommandResult run_command(const Command& command, std::stop_token stop) {
  if (command.argv.empty()) throw Error(FailureKind::internal, "an empty command");
  Pipe out, err;
  const pid_t pid = spawn(command, out, err);
  out.write.reset();
  err.write.reset();

  CommandResult result;
  const auto deadline = Clock::now() + command.deadline;
  std::optional<Clock::time_point> kill_at;
  bool stopped = false, late = false, out_open = true, err_open = true;
  while (out_open || err_open) {
    std::array<pollfd, 2> fds{
        {{out_open ? out.read.get() : -1, POLLIN, 0}, {err_open ? err.read.get() : -1, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), 100);
    if (fds[0].revents != 0) out_open = drain(out.read.get(), result.out, command.output_max);
    if (fds[1].revents != 0) err_open = drain(err.read.get(), result.err, command.output_max);
    stopped = stopped || stop.stop_requested();
    late = late || Clock::now() > deadline;
    if ((stopped || late) && !kill_at) {
      ::kill(-pid, SIGTERM);
      kill_at = Clock::now() + std::chrono::seconds(2);
    } else if (kill_at && Clock::now() > *kill_at) {
      ::kill(-pid, SIGKILL);
      break;
    }
  }
  result.status = wait_for(pid);
  if (stopped) throw Error(FailureKind::interrupted, fmt::format("stopped while `{}` ran", command.argv[0]));
  if (late) throw Error(FailureKind::command, fmt::format("`{}` did not end within its deadline", command.argv[0]));
  return result;
}

}  // namespace sabath
