#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/pipe.h"
#include "base/spawn.h"
#include "sabath/error.h"

extern char** environ;

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

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

pid_t start(const Command& command, const Pipe& out, const Pipe& err) {
  const auto [pid, error] = spawn({.program = command.argv[0],
                                   .argv = command.argv,
                                   .environment = merged_environment(command),
                                   .directory = command.directory,
                                   .out = out.write.get(),
                                   .err = err.write.get()});
  if (error != 0) {
    throw Error(FailureKind::command, fmt::format("cannot start `{}`: {}", command.argv[0], std::strerror(error)),
                error == ENOENT && command.directory.empty()
                    ? fmt::format("install {} or add it to PATH", command.argv[0])
                    : "");
  }
  return pid;
}

// The child has ended; it stays a zombie, so that no other process can get its process group yet.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ? errno == ECHILD
                                                                                          : info.si_pid == pid;
}

int status_of(pid_t pid, const std::string& program) {
  int status = 0;
  pid_t got = 0;
  while ((got = ::waitpid(pid, &status, 0)) < 0 && errno == EINTR) {}
  if (got != pid) {  // never success: SIGCHLD is ignored, or other code waits for all children
    throw Error(FailureKind::command, fmt::format("cannot learn how `{}` ended: {}", program, std::strerror(errno)),
                "start this program without SIGCHLD ignored");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The streams of a child as they are read.
class Output {
 public:
  Output(Pipe& out, Pipe& err, CommandResult& result, std::size_t max)
      : out_(out), err_(err), result_(result), max_(max) {}
  [[nodiscard]] bool open() const { return out_open_ || err_open_; }
  bool read_more(int timeout_ms) {  // false: nothing came
    std::array<pollfd, 2> fds{
        {{out_open_ ? out_.read.get() : -1, POLLIN, 0}, {err_open_ ? err_.read.get() : -1, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), timeout_ms) <= 0) return false;
    if (fds[0].revents != 0) out_open_ = read_waiting(out_.read.get(), result_.out, max_);
    if (fds[1].revents != 0) err_open_ = read_waiting(err_.read.get(), result_.err, max_);
    return true;
  }

 private:
  Pipe &out_, &err_;
  CommandResult& result_;
  std::size_t max_;
  bool out_open_ = true, err_open_ = true;
};

}  // namespace

CommandResult run_command(const Command& command, std::stop_token stop) {
  if (command.argv.empty()) throw Error(FailureKind::internal, "an empty command");
  Pipe out, err;
  const pid_t pid = start(command, out, err);
  out.write.reset();
  err.write.reset();

  CommandResult result;
  Output output(out, err, result, command.output_max);
  const auto deadline = Clock::now() + command.deadline;
  std::optional<Clock::time_point> kill_at;
  bool stopped = false, late = false;
  int idle_ms = 1;  // polls a short command at once, a long one rarely
  // Its end is the child's own: a descendant may keep the streams open for hours.
  for (bool ended = false; !ended;) {
    const bool news = output.read_more(idle_ms);
    idle_ms = news ? 1 : std::min(idle_ms * 2, 100);
    ended = !(news && output.open()) && has_ended(pid);
    stopped = stopped || stop.stop_requested();
    late = late || Clock::now() > deadline;
    if ((stopped || late) && !kill_at) {
      ::kill(-pid, SIGTERM);
      kill_at = Clock::now() + std::chrono::seconds(2);
    } else if (kill_at && Clock::now() > *kill_at) {
      break;
    }
  }
  if (stopped || late) ::kill(-pid, SIGKILL);
  for (int i = 0; i < 32 && output.open() && output.read_more(0); ++i) {}  // as much as a pipe can hold
  result.status = status_of(pid, command.argv[0]);
  if (stopped) throw Error(FailureKind::interrupted, fmt::format("stopped while `{}` ran", command.argv[0]));
  if (late) throw Error(FailureKind::command, fmt::format("`{}` did not end within its deadline", command.argv[0]));
  return result;
}

std::string find_program(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return name;
  std::string_view rest = path.empty() ? std::string_view("/usr/local/bin:/usr/bin:/bin") : std::string_view(path);
  while (true) {
    const auto colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    const std::string file = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
    // A directory of PATH that may not be looked into has nothing, as execvp(3) has it.
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0) return file;
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace sabath
