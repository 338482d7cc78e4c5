#include "sftp/ssh_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
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

// The program finds out by itself which user to log in, and the address of the host.
std::vector<std::string> command_line(const SshHost& host, const Url& url, const SshSettings& settings) {
  std::vector<std::string> argv = ssh_command(settings);
  argv.insert(argv.end(), {"-T", "-x", "-a", "-oPermitLocalCommand=no", "-oControlMaster=no"});
  if (!host.ciphers) argv.emplace_back(ciphers);
  if (url.port()) argv.insert(argv.end(), {"-p", std::to_string(*url.port())});
  argv.insert(argv.end(), {"-s", "--", host.alias, "sftp"});
  return argv;
}

struct Verdict {
  std::string_view words;    // of the program
  std::string_view meaning;  // "": its own line says it
  FailureKind kind;
  std::string_view hint;  // {0}: what `ssh` is to be called with; {1}: the host as known_hosts has it
};

constexpr std::string_view unreachable =
    "check the host and the port; behind a gateway, name it by ProxyJump in the ssh configuration";

constexpr Verdict verdicts[] = {
    {"HOST IDENTIFICATION HAS CHANGED", "the host key is not the one that was accepted", FailureKind::access,
     "an attacker may be in between, or the site has a new key: ask it, and only then `ssh-keygen -R '{1}'` and accept "
     "the "
     "new one by `ssh {0}`"},
    {"REVOKED HOST KEY", "the host key is revoked", FailureKind::access, "ask the site for its new key"},
    {"host key is known for", "unknown host key", FailureKind::access,
     "compare it with what the site publishes, then accept it once by `ssh {0}`"},
    {"Host key verification failed", "", FailureKind::access, "`ssh -oStrictHostKeyChecking=yes {0}` must work"},
    {"Permission denied", "the server refused the login", FailureKind::access,
     "make `ssh -oBatchMode=yes {0}` work first: load the key into the agent, or open a shared connection "
     "(ControlMaster); passwords are never asked for"},
    {"subsystem request failed", "", FailureKind::unavailable,
     "its administrator can enable the sftp subsystem of the server"},
    {"Could not resolve hostname", "", FailureKind::unavailable, "check the host name and this machine's name service"},
    {"Bad configuration option", "", FailureKind::invalid, "mend the ssh configuration"},
    {"Connection refused", "", FailureKind::network, unreachable},
    {"Connection timed out", "", FailureKind::network, unreachable},
    {"No route to host", "", FailureKind::network, unreachable},
};

// The line with these words; of a key that changed, that with the new one's fingerprint.
std::string line_with(std::string_view words, const std::vector<std::string>& lines) {
  const auto begins = [](const std::string& line) { return line.starts_with("SHA256:"); };
  const auto has = [&](const std::string& line) { return line.find(words) != std::string::npos; };
  const auto found = std::ranges::find_if(lines, has);
  const auto fingerprint = std::ranges::find_if(lines, begins);
  return found == lines.end() ? "" : fingerprint != lines.end() ? *fingerprint : *found;
}

}  // namespace

std::vector<std::string> ssh_command(const SshSettings& settings) {
  std::vector<std::string> argv = {"ssh", "-oBatchMode=yes", "-oStrictHostKeyChecking=yes",
                                   "-oClearAllForwardings=yes"};
  if (!settings.config.empty()) argv.insert(argv.end(), {"-F", settings.config.string()});
  return argv;
}

SshProgram::SshProgram(const SshHost& host, const Url& url, const SshSettings& settings)
    : name_(url.port() ? fmt::format("-p {} {}", *url.port(), host.alias) : host.alias),
      known_name_(host.known_name()),
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
  const auto lines = child_.complaints();
  for (const Verdict& verdict : verdicts) {
    const std::string line = heard_ ? "" : line_with(verdict.words, lines);
    if (line.empty()) continue;
    throw Error(
        verdict.kind,
        fmt::format("{}: {}{}ssh says: {}", waiter.what(), verdict.meaning, verdict.meaning.empty() ? "" : "; ", line),
        fmt::format(fmt::runtime(verdict.hint), printable(name_), printable(known_name_)));
  }
  const std::string why = lines.empty() ? "ssh ended without a word" : "ssh says: " + lines.back();
  throw Error(FailureKind::network, fmt::format("{}: {}", waiter.what(), why),
              heard_ ? "" : fmt::format("try `ssh {}`", printable(name_)));
}

}  // namespace sabath
