#include "command/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/spawn.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t pipe_buffer_size = 256 * 1024;
constexpr std::size_t errors_size_max = 64 * 1024;
constexpr std::chrono::milliseconds grace{500};

std::pair<Fd, Fd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("make a pipe", "", errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

pid_t start(const std::vector<std::string>& argv, std::vector<std::string> environment,
            const std::filesystem::path& directory, int out, int err) {
  const auto [pid, error] = spawn({.program = argv[0],
                                   .argv = argv,
                                   .environment = std::move(environment),
                                   .directory = directory,
                                   .out = out,
                                   .err = err});
  if (error == 0) return pid;
  throw Error(
      FailureKind::unavailable, fmt::format("cannot start `{}`: {}", argv[0], std::strerror(error)),
      error == ENOENT ? fmt::format("install {}, or let another program or SABATH read this scheme", argv[0]) : "");
}

}  // namespace

Program::Program(const std::vector<std::string>& argv,
                 const std::vector<std::pair<std::string, std::string>>& environment,
                 const std::filesystem::path& directory)
    : buffer_(pipe_buffer_size) {
  auto [out, out_write] = make_pipe();
  auto [err, err_write] = make_pipe();
  std::vector<std::string> lines;
  for (const auto& [name, value] : environment) lines.push_back(name + "=" + value);
  pid_ = start(argv, std::move(lines), directory, out_write.get(), err_write.get());
  out_ = std::move(out);
  err_ = std::move(err);
  ::fcntl(err_.get(), F_SETFL, O_NONBLOCK);
}

Program::~Program() {
  const auto deadline = std::chrono::steady_clock::now() + grace;
  if (!try_status()) ::kill(-pid_, SIGTERM);
  while (!try_status() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (status_) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

void Program::hear_errors() {
  std::array<char, 4096> piece;
  ssize_t got = -1;
  while (err_ && (got = ::read(err_.get(), piece.data(), piece.size())) > 0) {
    errors_.append(piece.data(),
                   std::min<std::size_t>(static_cast<std::size_t>(got), errors_size_max - errors_.size()));
  }
  if (got == 0) err_.reset();
}

std::span<const std::byte> Program::read(std::chrono::milliseconds limit) {
  std::array<pollfd, 2> fds{{{ended_ ? -1 : out_.get(), POLLIN, 0}, {err_ ? err_.get() : -1, POLLIN, 0}}};
  if (::poll(fds.data(), fds.size(), static_cast<int>(limit.count())) <= 0) return {};
  if (fds[1].revents != 0) hear_errors();
  if (fds[0].revents == 0) return {};
  const ssize_t got = ::read(out_.get(), buffer_.data(), buffer_.size());
  if (got < 0 && errno == EINTR) return {};
  ended_ = got <= 0;
  return std::span(buffer_).first(got > 0 ? static_cast<std::size_t>(got) : 0);
}

std::optional<int> Program::try_status() {
  if (status_) return status_;
  siginfo_t info{};
  const int looked = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (looked == 0 && info.si_pid == 0) return std::nullopt;
  ::kill(-pid_, SIGKILL);  // descendants that it left behind; while it is a zombie no other process can have the group
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, 0);
  hear_errors();
  status_ = got != pid_ ? 255 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

}  // namespace sabath
