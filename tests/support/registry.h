// A real docker-registry on a free loopback port, behind a relay that sets its rate; what lies in its store is put
// there as it would put it itself. One thread. Throws std::runtime_error when it does not start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "support/process.h"
#include "support/relay.h"
#include "support/temp_dir.h"

namespace sabath::test {

struct RegistryOptions {
  std::uint64_t rate = 0;  // bytes a second of each connection, 0: none
  std::string more{};      // lines for its configuration
};

class Registry {
 public:
  explicit Registry(const RegistryOptions& options);
  [[nodiscard]] static std::string unavailable_because();  // empty: it can be started here
  // The place for the content of this SHA-256, 64 hexadecimal digits: known to the registry from now on. Put it there.
  [[nodiscard]] std::filesystem::path place(const std::string& sha256) const;
  [[nodiscard]] std::string url(const std::string& sha256) const;       // oci://
  [[nodiscard]] std::string blob_url(const std::string& sha256) const;  // http://
  void kill();

 private:
  TempDir directory_;
  ServerProcess server_;
  std::unique_ptr<Relay> relay_;
};

}  // namespace sabath::test
