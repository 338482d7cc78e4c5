#include "origin.h"

#include <pwd.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "support/certificate.h"

namespace sabath::test {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string user_name() { return getpwuid(getuid())->pw_name; }

Origin::Origin(const std::string& scheme, const std::filesystem::path& root, std::uint64_t rate)
    : scheme_(scheme), root_(root) {
  if (scheme == "ftp" || scheme == "ftps") {
    vsftpd_ = std::make_unique<Vsftpd>(VsftpdOptions{.root = root, .rate_max = rate, .tls = scheme == "ftps"});
  } else if (scheme == "sftp" || scheme == "scp") {
    sshd_ = std::make_unique<Sshd>(SshdOptions{.root = root, .rate = rate});
  } else if (scheme.starts_with("sabath")) {
    store_ = Store::open(directory_ / "store", true);
    ServeSettings settings;
    settings.rate_max = rate;
    if (scheme == "sabath+tls") {
      const Certificate own = make_certificate(directory_.path(), "localhost");
      settings.certificate = text_of(own.file);
      settings.key = Secret(text_of(own.key));
    }
    server_ = std::make_unique<Server>(*store_, std::move(settings), [](const AccessEntry&) {});
    port_ = server_->port();
  } else if (scheme != "file") {
    // As an S3 server nginx has one bucket: the directory.
    NginxOptions options{.root = scheme == "s3" ? root.parent_path() : root};
    if (scheme == "https") options.tls_name = "localhost";
    if (rate > 0) options.limit_rate = std::to_string(rate);
    nginx_ = std::make_unique<Nginx>(std::move(options));
  }
}

std::string Origin::unavailable_because(const std::string& scheme) {
  if (scheme.starts_with("ftp")) return Vsftpd::unavailable_because();
  if (scheme == "sftp" || scheme == "scp") return Sshd::unavailable_because();
  if (scheme != "file" && !scheme.starts_with("sabath") && !Nginx::available()) return "nginx is not installed";
  return "";
}

std::string Origin::url(std::string_view path) const {
  if (scheme_ == "s3") return "s3://" + root_.filename().string() + std::string(path);
  if (nginx_) return nginx_->url(path);
  if (vsftpd_) return vsftpd_->url(path);
  if (sshd_) return scheme_ + sshd_->url(path).substr(std::string_view("sftp").size());
  if (store_) return url_in_store(path);
  return "file://" + root_.string() + std::string(path);
}

std::string Origin::url_in_store(std::string_view path) const {
  constexpr std::uintmax_t copied_max = 1 << 30;
  const std::filesystem::path file = root_.string() + percent_decode(path);
  Digest digest;  // of nothing that there is
  digest.size_bytes = 1;
  if (std::filesystem::exists(file)) {
    const auto version = std::pair(file, std::filesystem::last_write_time(file));
    const std::lock_guard lock(adopting_);
    const bool large = std::filesystem::file_size(file) > copied_max;  // linked, and hashed once
    if (const auto known = adopted_.find(version); large && known != adopted_.end()) {
      digest = known->second;
    } else {
      digest = adopted_[version] = store_->adopt(file, large, [](auto) {}).digest;
    }
  }
  return scheme_ + "://127.0.0.1:" + std::to_string(port_) + "/v1/objects/" + digest.hash.hex() + "." +
         std::to_string(digest.size_bytes);
}

FetcherSettings Origin::settings() const {
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}};
  if (nginx_) settings.ca_file = nginx_->ca_file();
  if (vsftpd_) settings.ca_file = vsftpd_->ca_file();
  if (scheme_ == "sabath+tls") settings.ca_file = directory_ / "cert.pem";
  if (scheme_ == "s3") settings.s3.endpoint_url = nginx_->url("");
  if (sshd_) settings.ssh = {.home = {}, .config = sshd_->config(), .user = user_name(), .agent = {}};
  return settings;
}

void Origin::kill() {
  if (nginx_) nginx_->kill();
  if (vsftpd_) vsftpd_->kill();
  if (sshd_) sshd_->kill();
  server_.reset();
}

}  // namespace sabath::test
