#include "sftp/ssh_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// The default ones of OpenSSH, those first that a processor with AES instructions does fastest.
constexpr const char* ciphers =
    "-oCiphers=aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,"
    "aes256-ctr";

// Who the user is and where the host stands, the program finds out by itself.
std::vector<std::string> command_line(const SshHost& host, const Url& url, const SshSettings& settings) {
  std::vector<std::string> argv = ssh_command(settings);
  argv.insert(argv.end(), {"-T", "-x", "-a", "-oPermitLocalCommand=no", "-oControlMaster=no"});
  if (!host.ciphers) argv.emplace_back(ciphers);
  if (url.port()) argv.insert(argv.end(), {"-p", std::to_string(*url.port())});
  argv.insert(argv.end(), {"-s", "--", host.alias, "sftp"});
  return argv;
}

struct Verdict {
  std::string_view words;  // of the program
  FailureKind kind;
  std::string_view hint;
};

constexpr Verdict verdicts[] = {
    {"Host key verification failed", FailureKind::access,
     "compare the key with what the site publishes, then accept it once by `ssh {}`; a changed one: ask the site "
     "first"},
    {"Permission denied", FailureKind::access,
     "`ssh -oBatchMode=yes {}` must work without a question: load the key into the agent, or open a shared connection "
     "first (ControlMaster)"},
    {"subsystem request failed", FailureKind::unavailable,
     "its administrator can enable the sftp subsystem of the server"},
    {"Could not resolve hostname", FailureKind::unavailable, "check the host name and this machine's name service"},
    {"Bad configuration option", FailureKind::invalid, "mend the ssh configuration"},
};

}  // namespace

std::vector<std::string> ssh_command(const SshSettings& settings) {
  std::vector<std::string> argv = {"ssh", "-oBatchMode=yes", "-oStrictHostKeyChecking=yes",
                                   "-oClearAllForwardings=yes"};
  if (!settings.config.empty()) argv.insert(argv.end(), {"-F", settings.config.string()});
  return argv;
}

SshProgram::SshProgram(const SshHost& host, const Url& url, const SshSettings& settings)
    : name_(url.port() ? fmt::format("-p {} {}", *url.port(), host.alias) : host.alias),
      child_(command_line(host, url, settings)) {}

std::size_t SshProgram::read_some(std::span<std::byte> bytes, const Waiter& waiter) {
  for (;;) {
    const ssize_t got = ::recv(child_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      heard_ = true;
      return static_cast<std::size_t>(got);
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) fail_ended(waiter);
    waiter.wait(child_.fd(), POLLIN);
  }
}

void SshProgram::write_all(std::span<const std::byte> bytes, const Waiter& waiter) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(child_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EINTR) {
      waiter.wait(child_.fd(), POLLOUT);
    } else {
      fail_ended(waiter);
    }
  }
}

// It says why before it closes its end.
void SshProgram::fail_ended(const Waiter& waiter) const {
  const std::string complaint = child_.complaint();
  const std::string message =
      fmt::format("{}: {}", waiter.what(), complaint.empty() ? "ssh ended without a word" : "ssh says: " + complaint);
  for (const Verdict& verdict : verdicts) {
    if (heard_ || complaint.find(verdict.words) == std::string::npos) continue;
    throw Error(verdict.kind, message, fmt::format(fmt::runtime(verdict.hint), printable(name_)));
  }
  throw Error(FailureKind::network, message, heard_ ? "" : fmt::format("try `ssh {}`", printable(name_)));
}

}  // namespace sabath
