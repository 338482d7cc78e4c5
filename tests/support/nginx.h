// A real nginx on a free loopback port for one test: started here, stopped by its own id. One thread.
// Throws std::runtime_error with the server's own words when it does not start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace sabath::test {

struct NginxOptions {
  std::filesystem::path root;  // what it serves
  std::string tls_name{};      // not empty: https, with a certificate of its own for this name
  bool http2 = false;          // beside HTTP/1.1, with TLS
  std::string limit_rate{};    // bytes a second of each connection: "1m"
  bool autoindex = false;
  std::vector<std::pair<std::string, std::string>> redirects{};  // path -> target, by 302
  std::string denied{};                                          // path prefix that answers 403
  std::string login{};                                           // path prefix that answers 401 but to tester:secret
  std::string extra{};                                           // more text for the server block
  unsigned requests_max = 1'000'000;                             // of one connection: then it is ended
};

struct LoggedRequest {
  std::string method, uri, range;
  int status = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t connection = 0;  // equal numbers: the same connection
  std::string protocol{};        // "HTTP/1.1", "HTTP/2.0"
};

class Nginx {
 public:
  explicit Nginx(NginxOptions options);
  [[nodiscard]] static bool available() { return !find_program("nginx").empty(); }
  [[nodiscard]] std::uint16_t port() const noexcept { return server_.port; }
  [[nodiscard]] std::string url(std::string_view path) const;  // path begins with '/'
  [[nodiscard]] std::filesystem::path ca_file() const;         // for clients, when it speaks TLS
  // The requests so far, once there are at least `count` of them or ten seconds have passed.
  [[nodiscard]] std::vector<LoggedRequest> log(std::size_t count);
  void kill() { server_.child->kill(); }

 private:
  void write_config(std::uint16_t port);

  NginxOptions options_;
  TempDir directory_;
  ServerProcess server_;
};

[[nodiscard]] std::uint64_t body_bytes(const std::vector<LoggedRequest>& log);

}  // namespace sabath::test
