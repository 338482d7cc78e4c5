// A real OpenSSH server on a free loopback port, with a user's side to match: a key that it accepts, and known hosts
// that hold its key. The user who runs the test logs in as himself. Throws std::runtime_error when it does not start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "support/process.h"
#include "support/relay.h"
#include "support/temp_dir.h"

namespace sabath::test {

struct SshdOptions {
  std::filesystem::path root;  // where url() begins
  std::uint64_t rate = 0;      // bytes a second of each connection, 0: none
  std::string more{};          // lines for its configuration
};

class Sshd {
 public:
  explicit Sshd(SshdOptions options);
  [[nodiscard]] static std::string unavailable_because();              // empty: it can be started here
  [[nodiscard]] std::string url(std::string_view path) const;          // path begins with '/'
  [[nodiscard]] std::uint16_t port() const { return relay_->port(); }  // of the relay in front of it
  [[nodiscard]] Relay& relay() { return *relay_; }
  void kill();

  // The user's side.
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  [[nodiscard]] std::filesystem::path config() const { return directory_ / "config"; }
  [[nodiscard]] std::filesystem::path key() const { return directory_ / "id"; }
  [[nodiscard]] std::filesystem::path known_hosts() const { return directory_ / "known_hosts"; }
  [[nodiscard]] std::string host_key() const;  // "ssh-ed25519 AAAA..."
  [[nodiscard]] std::string name() const;      // as known_hosts has it

 private:
  SshdOptions options_;
  TempDir directory_;
  ServerProcess server_;
  std::unique_ptr<Relay> relay_;
};

// ssh-keygen, for tests that need more keys. Throws std::runtime_error.
void make_ssh_key(const std::filesystem::path& file, const std::string& type, const std::string& passphrase = "");

}  // namespace sabath::test
