// A real vsftpd on a free loopback port: anonymous, read-only, chrooted to a directory. It must be started by root.
// Throws std::runtime_error when it does not start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/process.h"
#include "support/temp_dir.h"

namespace sabath::test {

struct VsftpdOptions {
  std::filesystem::path root;  // below directories that all users may enter
  std::uint64_t rate_max = 0;  // bytes a second of each connection, 0: none
  unsigned users_max = 0;      // of one address, 0: as many as come
  bool anonymous = true;       // false: every login is refused
  bool tls = false;            // from the first byte, with a certificate of its own for localhost
};

class Vsftpd {
 public:
  explicit Vsftpd(VsftpdOptions options);
  [[nodiscard]] static std::string unavailable_because();      // empty: it can be started here
  [[nodiscard]] std::string url(std::string_view path) const;  // path begins with '/'
  [[nodiscard]] std::filesystem::path ca_file() const;         // for clients; empty without TLS
  void kill() { server_.child->kill(); }                       // with its sessions

 private:
  VsftpdOptions options_;
  TempDir directory_;
  ServerProcess server_;
};

}  // namespace sabath::test
