#include "hosts/ssh_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/process.h"
#include "base/spawn.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using SshClock = std::chrono::steady_clock;
constexpr int own_failure = 255;  // of ssh
constexpr auto ends_within = std::chrono::seconds(3), dies_within = std::chrono::seconds(2);
constexpr auto look_at_end = std::chrono::milliseconds(10);

struct SshPipe {
  Fd read, write;
  SshPipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("make a pipe", "", errno);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

std::vector<std::string> variables_for_ssh(const Environment& environment) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : environment.variables) {
    if (is_for_ssh(name)) lines.push_back(name + "=" + value);
  }
  return lines;
}

// What is there now, up to some bytes; false at the end of the stream.
bool read_what_is_there(int fd, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

SshProcess::SshProcess(const HostLogin& login, const Environment& environment) : leads_group_(!login.at_terminal) {
  const std::vector<std::string> argv = login_command(login);
  const std::string program = find_program(argv.front(), environment.get("PATH").value_or(""));
  if (program.empty()) {
    throw Error(FailureKind::command, "there is no program `ssh` in PATH", "install the client of OpenSSH");
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("make a pipe", "", errno);
  in_ = Fd(ends[0]);
  const Fd far_in(ends[1]);
  SshPipe out, err;
  const auto [pid, error] = spawn({.program = program,
                                   .argv = argv,
                                   .environment = variables_for_ssh(environment),
                                   .in = far_in.get(),
                                   .out = out.write.get(),
                                   .err = err.write.get(),
                                   .joins_group = login.at_terminal});
  if (error != 0)
    throw Error(FailureKind::command, fmt::format("cannot start `{}`: {}", program, std::strerror(error)));
  pid_ = pid;
  out_ = std::move(out.read);
  err_ = std::move(err.read);
}

SshProcess::~SshProcess() { kill(); }

void SshProcess::signal(int number) const noexcept { ::kill(leads_group_ ? -pid_ : pid_, number); }

bool SshProcess::has_ended() {
  if (status_) return true;
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  status_ = got != pid_ ? own_failure : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

bool SshProcess::move(std::string_view& to_send, std::string& out, std::string& err, std::chrono::milliseconds wait) {
  const bool ended = has_ended();
  std::array<pollfd, 3> fds{{{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {in_.get(), POLLOUT, 0}}};
  if (to_send.empty() || !in_) fds[2].fd = -1;
  const int ready = ::poll(fds.data(), fds.size(), ended ? 0 : static_cast<int>(wait.count()));
  if (ready <= 0) return !ended;
  if (fds[0].revents != 0 && !read_what_is_there(out_.get(), out)) out_.reset();
  if (fds[1].revents != 0 && !read_what_is_there(err_.get(), err)) err_.reset();
  if (fds[2].revents != 0) {
    const ssize_t sent = ::send(in_.get(), to_send.data(), to_send.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      to_send.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      to_send = {};  // it reads no more: its end says why
      in_.reset();
    }
  }
  return out_ || err_;
}

void SshProcess::hang_up() { in_.reset(); }

int SshProcess::end() {
  in_.reset();
  const auto until = SshClock::now() + ends_within;
  while (!has_ended() && SshClock::now() < until) std::this_thread::sleep_for(look_at_end);
  kill();
  return status_.value_or(own_failure);
}

void SshProcess::kill() noexcept {
  for (const int number : {SIGTERM, SIGKILL}) {
    if (has_ended()) return;
    signal(number);
    const auto until = SshClock::now() + dies_within;
    while (!has_ended() && SshClock::now() < until) std::this_thread::sleep_for(look_at_end);
  }
}

}  // namespace sabath
