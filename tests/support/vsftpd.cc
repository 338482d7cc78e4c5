#include "support/vsftpd.h"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "support/certificate.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

// The anonymous user is daemon: vsftpd wants one whose home directory exists.
constexpr const char* vsftpd_conf = R"(listen=YES
listen_ipv6=NO
listen_address=127.0.0.1
listen_port={port}
background=NO
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
anonymous_enable={anonymous}
local_enable={local}
userlist_enable={local}
userlist_file={dir}/refused
no_anon_password=YES
ftp_username=daemon
nopriv_user=nobody
secure_chroot_dir={dir}/empty
anon_root={root}
anon_max_rate={rate}
max_per_ip={users}
)";
constexpr const char* tls_template = R"(ssl_enable=YES
implicit_ssl=YES
allow_anon_ssl=YES
force_anon_data_ssl=YES
force_anon_logins_ssl=YES
require_ssl_reuse=NO
rsa_cert_file={}
rsa_private_key_file={}
)";

}  // namespace

std::string Vsftpd::unavailable_because() {
  if (find_program("vsftpd").empty()) return "vsftpd is not installed";
  if (geteuid() != 0) return "vsftpd must be started by root";
  return "";
}

Vsftpd::Vsftpd(VsftpdOptions options) : options_(std::move(options)) {
  std::filesystem::create_directory(directory_ / "empty");
  write_file(directory_ / "refused", "anonymous\n");
  const std::filesystem::path config = directory_ / "vsftpd.conf";
  std::string tls;
  if (options_.tls) {
    const Certificate own = make_certificate(directory_.path(), "localhost");
    tls = fmt::format(tls_template, own.file.string(), own.key.string());
  }
  server_ = start_server(
      [&](std::uint16_t port) {
        write_file(config, fmt::format(vsftpd_conf, fmt::arg("port", port), fmt::arg("root", options_.root.string()),
                                       fmt::arg("dir", directory_.path().string()), fmt::arg("rate", options_.rate_max),
                                       fmt::arg("users", options_.users_max),
                                       fmt::arg("anonymous", options_.anonymous ? "YES" : "NO"),
                                       fmt::arg("local", options_.anonymous ? "NO" : "YES")) +
                               tls);
        return std::vector<std::string>{"vsftpd", config};
      },
      directory_ / "output.log");
}

std::string Vsftpd::url(std::string_view path) const {
  return fmt::format("{}://127.0.0.1:{}{}", options_.tls ? "ftps" : "ftp", server_.port, path);
}

std::filesystem::path Vsftpd::ca_file() const {
  return options_.tls ? directory_ / "cert.pem" : std::filesystem::path();
}

}  // namespace sabath::test
