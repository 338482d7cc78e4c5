#include "origin.h"

namespace sabath::test {

Origin::Origin(const std::string& scheme, const std::filesystem::path& root, std::uint64_t rate) : root_(root) {
  if (scheme == "ftp") {
    vsftpd_ = std::make_unique<Vsftpd>(VsftpdOptions{.root = root, .rate_max = rate});
  } else if (scheme != "file") {
    NginxOptions options{.root = root};
    if (scheme == "https") options.tls_name = "localhost";
    if (rate > 0) options.limit_rate = std::to_string(rate);
    nginx_ = std::make_unique<Nginx>(std::move(options));
  }
}

std::string Origin::unavailable_because(const std::string& scheme) {
  if (scheme == "ftp") return Vsftpd::unavailable_because();
  if (scheme != "file" && !Nginx::available()) return "nginx is not installed";
  return "";
}

std::string Origin::url(std::string_view path) const {
  if (nginx_) return nginx_->url(path);
  if (vsftpd_) return vsftpd_->url(path);
  return "file://" + root_.string() + std::string(path);
}

FetcherSettings Origin::settings() const {
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}};
  if (nginx_) settings.ca_file = nginx_->ca_file();
  return settings;
}

void Origin::kill() {
  if (nginx_) nginx_->kill();
  if (vsftpd_) vsftpd_->kill();
}

}  // namespace sabath::test
