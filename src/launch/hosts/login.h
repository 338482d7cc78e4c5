// Names of login nodes, and of the program there, as they may stand in ssh's argv: ssh gives its last words to a shell
// of the other side. Pure; any thread. Throws Error{usage}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct HostLogin {
  std::string host;                // "login1", "me@login1.lab", an alias of the ssh configuration
  std::string program = "sabath";  // there: a name in its PATH, or a path
  std::string configuration;       // of ssh; empty: the user's own
  bool at_terminal = false;        // a user is there whom ssh may ask: for a password, or a new host key
};

void refuse_odd_login(const HostLogin& login);

// All words are fixed but the host's name and the program's. No word is of a request.
[[nodiscard]] std::vector<std::string> login_command(const HostLogin& login);

// Of the caller's variables those that ssh, its agent, its proxies and Kerberos need. A configuration that sends
// variables (SendEnv) then finds no token among them.
[[nodiscard]] bool is_for_ssh(std::string_view variable);

}  // namespace sabath
