#include "support/nginx.h"

#include <fmt/format.h>

#include <fstream>
#include <numeric>
#include <sstream>

#include "support/certificate.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

// One process, so that its id is all there is to stop; a log line is written when its request has ended.
constexpr const char* nginx_conf =
    R"(daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log warn;
events {{ worker_connections 512; }}
http {{
  log_format test '$request_method\t$request_uri\t$status\t$body_bytes_sent\t$connection\t$server_protocol\t$http_range';
  access_log {dir}/access.log test;
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  sendfile on; tcp_nopush on; keepalive_requests {requests}; default_type application/octet-stream;
  types {{ text/html html; application/json json; text/plain txt; }}
  server {{
    listen 127.0.0.1:{port}{tls}; root {root};
{locations}
  }}
}}
)";

std::string locations_of(const NginxOptions& options, const std::string& dir) {
  std::string text;
  if (!options.tls_name.empty())
    text += fmt::format("ssl_certificate {0}/cert.pem; ssl_certificate_key {0}/key.pem;\n", dir);
  if (!options.limit_rate.empty()) text += fmt::format("limit_rate {};\n", options.limit_rate);
  if (options.autoindex) text += "autoindex on;\n";
  for (const auto& [path, target] : options.redirects)
    text += fmt::format("location = {} {{ return 302 {}; }}\n", path, target);
  if (!options.denied.empty()) text += fmt::format("location {} {{ deny all; }}\n", options.denied);
  if (!options.login.empty()) {
    text += fmt::format("location {} {{ auth_basic test; auth_basic_user_file {}/users; }}\n", options.login, dir);
  }
  return text + options.extra;
}

}  // namespace

Nginx::Nginx(NginxOptions options) : options_(std::move(options)) {
  write_file(directory_ / "users", "tester:{PLAIN}secret\n");
  if (!options_.tls_name.empty()) static_cast<void>(make_certificate(directory_.path(), options_.tls_name));
  const std::filesystem::path log = directory_ / "output.log";
  server_ = start_server(
      [&](std::uint16_t port) {
        write_config(port);
        return std::vector<std::string>{"nginx", "-e", log, "-p", directory_.path(), "-c", directory_ / "nginx.conf"};
      },
      log);
}

void Nginx::write_config(std::uint16_t port) {
  const std::string dir = directory_.path();
  const char* tls = options_.tls_name.empty() ? "" : options_.http2 ? " ssl http2" : " ssl";
  write_file(directory_ / "nginx.conf",
             fmt::format(nginx_conf, fmt::arg("dir", dir), fmt::arg("port", port),
                         fmt::arg("root", options_.root.string()), fmt::arg("requests", options_.requests_max),
                         fmt::arg("tls", tls), fmt::arg("locations", locations_of(options_, dir))));
}

std::string Nginx::url(std::string_view path) const {
  return fmt::format("{}://127.0.0.1:{}{}", options_.tls_name.empty() ? "http" : "https", port(), path);
}

std::filesystem::path Nginx::ca_file() const { return directory_ / "cert.pem"; }

std::vector<LoggedRequest> Nginx::log(std::size_t count) {
  std::vector<LoggedRequest> requests;
  const auto read = [&] {
    requests.clear();
    std::ifstream file(directory_ / "access.log");
    for (std::string line; std::getline(file, line) && !file.eof();) {
      std::istringstream fields(line);
      LoggedRequest request;
      std::string status, bytes, connection;
      std::getline(fields, request.method, '\t');
      std::getline(fields, request.uri, '\t');
      std::getline(fields, status, '\t');
      std::getline(fields, bytes, '\t');
      std::getline(fields, connection, '\t');
      std::getline(fields, request.protocol, '\t');
      std::getline(fields, request.range, '\t');
      request.status = std::stoi(status);
      request.body_bytes = std::stoull(bytes);
      request.connection = std::stoull(connection);
      requests.push_back(std::move(request));
    }
    return requests.size() >= count;
  };
  static_cast<void>(wait_until(read));
  return requests;
}

std::uint64_t body_bytes(const std::vector<LoggedRequest>& log) {
  return std::accumulate(log.begin(), log.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& r) { return sum + r.body_bytes; });
}

}  // namespace sabath::test
