// One host in the user's ssh configuration: the essentials of ssh_config(5), read as OpenSSH reads them, so that a host
// that `ssh` knows by a short name is known here by the same. The first value found wins.
//
// Understood: Host with patterns and negation, Include, HostName, User, Port, IdentityFile, IdentitiesOnly,
// UserKnownHostsFile, GlobalKnownHostsFile, HostKeyAlias, IdentityAgent, ProxyJump. `Match all` counts as `Host *`;
// other Match blocks never apply. Settings that only the ssh program can follow are noted. All others are left to ssh.
// Pure but for reading the files; any thread. Throws Error{invalid} as "file:line: what is wrong".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/fetcher.h"
#include "sabath/url.h"

namespace sabath {

struct SshHost {
  std::string alias;  // as the URL names it
  std::string name;   // to connect to
  std::uint16_t port = 22;
  std::string user;
  std::vector<std::filesystem::path> identities;   // private keys, in order; they need not exist
  std::vector<std::filesystem::path> known_hosts;  // the user's, then the system's
  std::string key_alias;                           // the name in known_hosts; empty: name and port
  std::string agent;                               // socket; empty: none
  std::string proxy_jump;                          // empty: none
  bool identities_only = false;                    // of the agent's keys only those that are named
  bool proxy_command = false;                      // asked for, and only done by the program
  bool control_path = false;                       // the same: a connection that the user may have opened already
  bool ciphers = false;                            // he has chosen some

  // As known_hosts has it: "name", or "[name]:port" for another port than 22.
  [[nodiscard]] std::string known_name() const;
};

// `url` is sftp://host[:port]/...
[[nodiscard]] SshHost resolve_ssh_host(const SshSettings& settings, const Url& url);

// True if `host` is meant by a list of patterns with * and ?, of which "!pattern" excludes.
[[nodiscard]] bool matches_patterns(std::string_view host, const std::vector<std::string>& patterns);

}  // namespace sabath
