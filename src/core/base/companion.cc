#include "base/companion.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/spawn.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr int end_poll_ms = 2;
constexpr int stop_poll_ms = 50;                       // how soon a stop request is seen
constexpr std::chrono::seconds greeting_awaited{120};  // a program on a slow filesystem takes its time to load
constexpr std::size_t complaint_bytes_max = 4096;
constexpr const char* install_both = "install the library and the program `sabath` together, from one build";

// The file that this code was loaded from. The loader's own name for it may be relative to a directory that the host
// has left since.
std::filesystem::path own_file() {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_companion);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    int name = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &name) != 2 || name == 0) continue;
    if (begin <= here && here < end) return line.substr(static_cast<std::size_t>(name));
  }
  return {};
}

pid_t start(const std::filesystem::path& program, std::string_view role, int channel, int out, int err) {
  const auto [pid, error] = spawn({.program = program,
                                   .argv = {"sabath", "--as", std::string(role), std::string(wording_in_use().name)},
                                   .in = channel,
                                   .out = out,
                                   .err = err});
  if (error != 0) {
    throw Error(FailureKind::command,
                fmt::format("cannot start `{}`: {}", printable(program.native(), 4096), std::strerror(error)),
                install_both);
  }
  return pid;
}

// A file in memory that takes at most complaint_bytes_max bytes: the complaints of a program that is not ours.
Fd make_complaints() {
  Fd file(::memfd_create("complaints", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(complaint_bytes_max)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    throw_errno("make a file in memory for", "a companion", errno);
  }
  return file;
}

std::string text_in(const Fd& complaints) {
  std::string text(complaint_bytes_max, '\0');
  const ssize_t got = complaints ? ::pread(complaints.get(), text.data(), text.size(), 0) : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  text.resize(std::min(text.find('\0'), text.size()));
  return text.substr(0, text.find_last_not_of(" \n\r\t") + 1);
}

// True when there is something to read, or the other end has gone.
bool is_ready(int channel, const std::stop_token& stop) {
  pollfd ready{channel, POLLIN, 0};
  const int count = ::poll(&ready, 1, stop.stop_possible() ? stop_poll_ms : 1000);
  if (stop.stop_requested()) throw Error(FailureKind::interrupted, "interrupted while another process worked");
  return count > 0;
}

void send_bytes(int channel, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(channel, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw Error(FailureKind::command, fmt::format("cannot speak with a companion process: {}", std::strerror(errno)),
                  install_both);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Receives `wanted` bytes, or fewer if the other end goes.
std::string receive_bytes(int channel, std::uint64_t wanted, const std::stop_token& stop) {
  std::string bytes;
  std::array<char, 65536> buffer;
  while (bytes.size() < wanted) {
    if (!is_ready(channel, stop)) continue;
    const ssize_t n = ::recv(channel, buffer.data(), std::min<std::uint64_t>(buffer.size(), wanted - bytes.size()), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return bytes;
}

}  // namespace

std::filesystem::path find_companion(const std::filesystem::path& named) {
  if (!named.empty()) return named;
  const std::filesystem::path beside = own_file().parent_path();
  for (const char* place : {"sabath", "bin/sabath", "../bin/sabath", "../../bin/sabath"}) {
    auto program = (beside / place).lexically_normal();
    const auto status = try_stat(program);
    if (status && S_ISREG(status->st_mode) && ::access(program.c_str(), X_OK) == 0) return program;
  }
  throw Error(
      FailureKind::command,
      fmt::format("the library needs the program `sabath`, and {} has none beside it",
                  printable(beside.native(), 4096)),
      fmt::format("{}, or name the program: SABATH_PROGRAM, or `program` of the session's settings", install_both));
}

Companion::Companion(const std::filesystem::path& program, std::string_view role, const Streams& streams,
                     const std::stop_token& stop) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_errno("make a socket for", "a companion", errno);
  }
  channel_ = Fd(ends[0]);
  {
    const Fd theirs(ends[1]);                              // not held below: we learn of an early death by its end
    if (streams.err < 0) complaints_ = make_complaints();  // the host's own stream is not for another program's words
    pid_ = start(program, role, theirs.get(), streams.out, streams.err < 0 ? complaints_.get() : streams.err);
  }
  try {
    await_greeting(program, stop);
  } catch (const Error&) {
    kill();
    static_cast<void>(wait());
    throw;
  }
}

Companion::~Companion() { static_cast<void>(wait()); }

void Companion::kill() noexcept {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string Companion::complaint() const { return text_in(complaints_); }

void Companion::hang_up() noexcept {
  if (channel_) ::shutdown(channel_.get(), SHUT_RDWR);  // also where a child of the host holds it, too
  channel_.reset();
}

void Companion::end_within(std::chrono::milliseconds patience) noexcept {
  hang_up();
  const auto until = std::chrono::steady_clock::now() + patience;
  siginfo_t ended{};
  while (pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0) {
    ::kill(pid_, std::chrono::steady_clock::now() < until ? SIGCONT : SIGKILL);
    ::poll(nullptr, 0, end_poll_ms);
  }
  static_cast<void>(wait());
}

std::optional<int> Companion::wait() noexcept {
  hang_up();
  if (pid_ <= 0) return std::nullopt;
  int status = 0;
  pid_t got = 0;
  while ((got = ::waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {}
  const bool told = got == pid_;
  pid_ = 0;
  return told ? std::optional(status) : std::nullopt;
}

void Companion::await_greeting(const std::filesystem::path& program, const std::stop_token& stop) const {
  const auto deadline = std::chrono::steady_clock::now() + greeting_awaited;
  while (!is_ready(channel_.get(), stop)) {
    if (std::chrono::steady_clock::now() < deadline) continue;
    throw Error(FailureKind::command,
                fmt::format("`{}` says nothing when it is started", printable(program.native(), 4096)), install_both);
  }
  std::array<char, companion_greeting.size()> buffer;
  const ssize_t n = ::recv(channel_.get(), buffer.data(), buffer.size(), 0);  // it is sent as one piece
  const std::string_view said(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (said == companion_greeting) return;
  std::string told = "it does not answer";
  if (!said.empty()) told = fmt::format("it says \"{}\"", printable(said, 60));
  if (const auto complaint = text_in(complaints_); !complaint.empty())
    told += fmt::format(", and complains \"{}\"", printable(complaint, 300));
  throw Error(FailureKind::command,
              fmt::format("`{}` is not the program of this library, which is sabath {}: {}",
                          printable(program.native(), 4096), SABATH_VERSION, told),
              fmt::format("{}; if sabath was renewed meanwhile, begin again", install_both));
}

void send_message(int channel, std::string_view bytes) {
  const std::uint64_t length = bytes.size();
  std::array<char, sizeof length> head;
  std::memcpy(head.data(), &length, sizeof length);
  send_bytes(channel, {head.data(), head.size()});
  send_bytes(channel, bytes);
}

std::optional<std::string> receive_message(int channel, std::uint64_t bytes_max, const std::stop_token& stop) {
  std::uint64_t length = 0;
  const std::string head = receive_bytes(channel, sizeof length, stop);
  if (head.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, head.data(), sizeof length);
  if (length > bytes_max) {
    throw Error(FailureKind::invalid, fmt::format("a message of {} bytes: at most {} are read", length, bytes_max));
  }
  std::string bytes = receive_bytes(channel, length, stop);
  if (bytes.size() < length) return std::nullopt;
  return bytes;
}

}  // namespace sabath
