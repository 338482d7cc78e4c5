// The server's SFTP subsystem, spoken to through the OpenSSH program: with all of the user's configuration (Match,
// ProxyCommand, certificates, GSSAPI, hardware keys), over a connection that he has opened and proved himself on
// already (ControlPath), and with ciphers that libssh2 lacks. The program judges the host key, strictly.
// One thread at a time. Throws Error.
#pragma once

#include <string>
#include <vector>

#include "sabath/url.h"
#include "sftp/child.h"
#include "sftp/ssh_config.h"
#include "sftp/stream.h"

namespace sabath {

// How the program begins that carries bytes for us: it asks nothing, takes only host keys that are known, and forwards
// nothing.
[[nodiscard]] std::vector<std::string> ssh_command(const SshSettings& settings);

class SshProgram final : public Stream {
 public:
  SshProgram(const SshHost& host, const Url& url, const SshSettings& settings);
  std::size_t read_some(std::span<std::byte> bytes, const Waiter& waiter) override;
  void write_all(std::span<const std::byte> bytes, const Waiter& waiter) override;

 private:
  [[noreturn]] void fail_ended(const Waiter& waiter) const;

  std::string name_, known_name_;  // as a user names it to ssh; as known_hosts has it
  Child child_;
  bool heard_ = false;
};

}  // namespace sabath
