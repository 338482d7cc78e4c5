#include "hosts/login.h"

#include <fmt/format.h>

#include <array>

#include "base/login_name.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
void refuse_odd_login(const HostLogin& login) {
  if (!is_login_name(login.host)) {
    throw Error(FailureKind::usage, fmt::format("'{}' is no name of a login node", printable(login.host)),
                "write HOST, USER@HOST, or an alias of the ssh configuration, with letters, digits and . _ - only; it "
                "begins with none of - and @");
  }
  if (!is_login_program(login.program)) {
    throw Error(FailureKind::usage,
                fmt::format("'{}' is no name of a program on {}", printable(login.program), login.host),
                "`job_programs` of the configuration names a path there, with letters, digits and . _ - + / only");
  }
}

std::vector<std::string> login_command(const HostLogin& login) {
  refuse_odd_login(login);
  std::vector<std::string> argv = {
      "ssh", "-T", "-x", "-a", "-oClearAllForwardings=yes", "-oPermitLocalCommand=no", "-oControlMaster=no"};
  if (!login.at_terminal) argv.emplace_back("-oBatchMode=yes");
  if (!login.configuration.empty()) argv.insert(argv.end(), {"-F", login.configuration});
  argv.insert(argv.end(), {"--", login.host, login.program, "job", "--answer"});
  return argv;
}

bool is_for_ssh(std::string_view variable) {
  constexpr std::array<std::string_view, 14> names{
      "HOME", "USER",   "LOGNAME",         "SHELL",          "PATH",
      "TERM", "LANG",   "LANGUAGE",        "DISPLAY",        "WAYLAND_DISPLAY",
      "TZ",   "TMPDIR", "XDG_RUNTIME_DIR", "LD_LIBRARY_PATH"};
  return is_among(variable, names) || variable.starts_with("SSH_") || variable.starts_with("LC_") ||
         variable.starts_with("KRB5");
}

}  // namespace sabath
