#include "origin.h"

#include <pwd.h>
#include <unistd.h>

namespace sabath::test {

std::string user_name() { return getpwuid(getuid())->pw_name; }

Origin::Origin(const std::string& scheme, const std::filesystem::path& root, std::uint64_t rate) : root_(root) {
  if (scheme == "ftp") {
    vsftpd_ = std::make_unique<Vsftpd>(VsftpdOptions{.root = root, .rate_max = rate});
  } else if (scheme == "sftp") {
    sshd_ = std::make_unique<Sshd>(SshdOptions{.root = root, .rate = rate});
  } else if (scheme != "file") {
    NginxOptions options{.root = root};
    if (scheme == "https") options.tls_name = "localhost";
    if (rate > 0) options.limit_rate = std::to_string(rate);
    nginx_ = std::make_unique<Nginx>(std::move(options));
  }
}

std::string Origin::unavailable_because(const std::string& scheme) {
  if (scheme == "ftp") return Vsftpd::unavailable_because();
  if (scheme == "sftp") return Sshd::unavailable_because();
  if (scheme != "file" && !Nginx::available()) return "nginx is not installed";
  return "";
}

std::string Origin::url(std::string_view path) const {
  if (nginx_) return nginx_->url(path);
  if (vsftpd_) return vsftpd_->url(path);
  if (sshd_) return sshd_->url(path);
  return "file://" + root_.string() + std::string(path);
}

FetcherSettings Origin::settings() const {
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}};
  if (nginx_) settings.ca_file = nginx_->ca_file();
  if (sshd_) settings.ssh = {.home = {}, .config = sshd_->config(), .user = user_name(), .agent = {}};
  return settings;
}

void Origin::kill() {
  if (nginx_) nginx_->kill();
  if (vsftpd_) vsftpd_->kill();
  if (sshd_) sshd_->kill();
}

}  // namespace sabath::test
