#include "hosts/ssh_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr int of_ssh = 255, not_executable = 126, not_found = 127;

struct SshComplaint {
  std::string_view words;    // of ssh
  std::string_view meaning;  // "": its own line says it
  FailureKind kind;
  std::string_view hint;  // {}: the host
};

constexpr std::string_view check_way =
    "check the host, the port and the way there (ProxyJump) in the ssh configuration";

constexpr SshComplaint complaints[] = {
    {"HOST IDENTIFICATION HAS CHANGED", "the host key is not the one that was accepted; ", FailureKind::access,
     "an attacker may be in between, or the site has a new key: ask it before you accept the new one by `ssh {}`"},
    {"REVOKED HOST KEY", "the host key is revoked; ", FailureKind::access, "ask the site for its new key"},
    {"Host key verification failed", "the host key is not known; ", FailureKind::access,
     "compare it with what the site publishes, then accept it once by `ssh {}`"},
    {"Permission denied", "the login was refused; ", FailureKind::access,
     "make `ssh -oBatchMode=yes {} true` work: load the key into the agent, or open a shared connection "
     "(ControlMaster); a password is asked for at a terminal only"},
    {"Too many authentication failures", "the login was refused; ", FailureKind::access,
     "name the key for this host (IdentityFile, IdentitiesOnly) in the ssh configuration"},
    {"Could not resolve hostname", "", FailureKind::unavailable,
     "check the host's name; an alias is a `Host` of the ssh configuration"},
    {"Bad configuration option", "", FailureKind::invalid, "mend the ssh configuration"},
    {"Cannot execute command-line and remote command", "", FailureKind::invalid,
     "the ssh configuration has a RemoteCommand for this host: give the host a second name without one"},
    {"Connection refused", "", FailureKind::network, check_way},
    {"timed out", "", FailureKind::network, check_way},
    {"No route to host", "", FailureKind::network, check_way},
};

std::string last_line(const SshEnd& end) { return end.lines.empty() ? "" : end.lines.back(); }

std::string and_says(const SshEnd& end) {
  return end.lines.empty() ? "" : fmt::format("; it says: {}", last_line(end));
}

Failure failure(FailureKind kind, std::string message, std::string hint) {
  return {kind, std::move(message), std::move(hint), std::nullopt};
}

Failure ssh_failed(const HostLogin& login, const SshEnd& end) {
  for (const SshComplaint& each : complaints) {
    const auto has = [&](const std::string& line) { return line.find(each.words) != line.npos; };
    const auto found = std::ranges::find_if(end.lines, has);
    if (found == end.lines.end()) continue;
    return failure(each.kind, fmt::format("{}: {}ssh says: {}", login.host, each.meaning, *found),
                   fmt::format(fmt::runtime(each.hint), login.host));
  }
  return failure(FailureKind::network,
                 end.lines.empty() ? fmt::format("{}: ssh ended without a word", login.host)
                                   : fmt::format("{}: ssh says: {}", login.host, last_line(end)),
                 fmt::format("make `ssh {} true` work", login.host));
}

}  // namespace

Failure why_no_answer(const HostLogin& login, const SshEnd& end) {
  const std::string& program = login.program;
  if (end.status == of_ssh) return ssh_failed(login, end);
  if (end.status == not_found || end.status == not_executable) {
    return failure(FailureKind::command,
                   fmt::format("{} has no `{}` that could be started{}", login.host, program, and_says(end)),
                   fmt::format("install SABATH there; or write its path into `job_programs` of the configuration here: "
                               "{{\"{}\": \"/path/sabath\"}}",
                               login.host));
  }
  const std::string version = fmt::format("`ssh {} {} --version`", login.host, program);
  const std::string_view said = trim(end.said);
  if (end.status == 0 || end.lines.empty()) {
    return failure(
        FailureKind::command,
        said.empty() ? fmt::format("{}: `{}` ended with {} and gave no answer", login.host, program, end.status)
                     : fmt::format("{}: what was printed is no answer: '{}'", login.host, printable(said)),
        fmt::format("{} must print a version like {}: the key may be for one command only, or a startup file "
                    "of the shell may end or replace it",
                    version, SABATH_VERSION));
  }
  return failure(
      FailureKind::command,
      fmt::format("{}: `{}` ended with {} and gave no answer{}", login.host, program, end.status, and_says(end)),
      fmt::format("compare {} with {} here: an older version takes no calls", version, SABATH_VERSION));
}

Failure why_broken_off(const HostLogin& login, const SshEnd& end, const std::string& later) {
  if (end.status == of_ssh) {
    return failure(FailureKind::network,
                   fmt::format("the connection to {} broke{}", login.host,
                               end.lines.empty() ? "" : fmt::format("; ssh says: {}", last_line(end))),
                   later);
  }
  return failure(FailureKind::command,
                 fmt::format("`{}` on {} ended with {} before all was answered{}", login.program, login.host,
                             end.status, and_says(end)),
                 later);
}

}  // namespace sabath
