#include "origin.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "support/certificate.h"

namespace sabath::test {
namespace {

constexpr const char* hub_repository = "/datasets/lab/data/resolve/main";
constexpr const char* lfs_repository = "/lab/r.git/info/lfs";
// Of tests/python/globus_service.py.
constexpr const char* collection = "0b226e2c-4de0-11ea-971a-021304b0cca7";
constexpr const char* globus_token = "AgContract";
constexpr const char* collection_token = "AgCollection";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

Digest digest_of(const std::filesystem::path& file) {
  Digest digest;
  StreamHash hash("sha256");
  std::string buffer(1 << 20, '\0');
  for (std::ifstream in(file); in.read(buffer.data(), std::ssize(buffer)), in.gcount() > 0;) {
    const auto bytes = std::as_bytes(std::span(buffer).first(static_cast<std::size_t>(in.gcount())));
    hash.update(bytes);
    digest.size_bytes += bytes.size();
  }
  digest.hash = hash.finish_sha256();
  return digest;
}

// "sftp+ssh": sftp, carried by the OpenSSH program.
bool is_by_ssh(const std::string& scheme) { return scheme.starts_with("sftp") || scheme == "scp"; }

}  // namespace

std::string user_name() { return getpwuid(getuid())->pw_name; }

Origin::Origin(const std::string& scheme, const std::filesystem::path& root, std::uint64_t rate)
    : scheme_(scheme), root_(root) {
  if (scheme == "ftp" || scheme == "ftps") {
    vsftpd_ = std::make_unique<Vsftpd>(VsftpdOptions{.root = root, .rate_max = rate, .tls = scheme == "ftps"});
  } else if (is_by_ssh(scheme)) {
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
    server_ = make_server(*store_, std::move(settings), [](const AccessEntry&) {});
    port_ = server_->port();
  } else if (scheme == "oci") {
    registry_ = std::make_unique<Registry>(RegistryOptions{.rate = rate});
  } else if (scheme != "file") {
    start_web(rate);
  }
}

void Origin::start_web(std::uint64_t rate) {
  NginxOptions options{.root = root_};
  if (rate > 0) options.limit_rate = std::to_string(rate);
  if (scheme_ == "s3") options.root = root_.parent_path();  // as an S3 server nginx has one bucket: the directory
  if (scheme_.starts_with("https") || scheme_ == "globus") options.tls_name = "localhost";
  options.http2 = scheme_ == "https+h2";
  if (scheme_ == "globus") {
    options.extra = fmt::format("if ($http_authorization != 'Bearer {}') {{ return 401; }}\n", collection_token);
  }
  if (scheme_ == "hf") {  // the hub leads to where the content is
    options.extra = fmt::format("if ($request_uri ~ ^{}(/.*)$) {{ return 302 /content$1; }}\n", hub_repository) +
                    fmt::format("location /content/ {{ alias {}/; }}\n", root_.string());
  }
  if (scheme_ == "lfs+http") {
    options.root = place("").parent_path();
    std::filesystem::create_directory(options.root);
    options.extra = "if ($http_x_key != k3y) { return 403; }\n";  // as the service says
  }
  nginx_ = std::make_unique<Nginx>(std::move(options));
  const std::string base = nginx_->url("");
  if (scheme_ == "lfs+http" || scheme_ == "globus") {
    service_ = start_server(
        [&](std::uint16_t port) {
          return scheme_ == "globus"
                     ? script("python/globus_service.py", {std::to_string(port), root_, base})
                     : script("python/lfs_service.py", {std::to_string(port), place("").parent_path(), base});
        },
        directory_ / "service.log");
  }
}

std::string Origin::unavailable_because(const std::string& scheme) {
  if (scheme.starts_with("ftp")) return Vsftpd::unavailable_because();
  if (scheme == "sftp+ssh" && find_program("ssh").empty()) return "the OpenSSH client is not installed";
  if (is_by_ssh(scheme)) return Sshd::unavailable_because();
  if (scheme == "oci") return Registry::unavailable_because();
  if (scheme != "file" && !scheme.starts_with("sabath") && !Nginx::available()) return "nginx is not installed";
  return "";
}

std::string Origin::url(std::string_view path) const {
  if (scheme_ == "s3") return "s3://" + root_.filename().string() + std::string(path);
  if (scheme_ == "hf") return "hf://datasets/lab/data" + std::string(path);
  if (scheme_ == "globus") return fmt::format("globus://{}{}", collection, path);
  if (registry_) return registry_->url(content_at(path).hash.hex());
  if (service_.child) {
    const Digest digest = content_at(path);
    return fmt::format("lfs+http://127.0.0.1:{}{}/{}?size={}", service_.port, lfs_repository, digest.hash.hex(),
                       digest.size_bytes);
  }
  if (store_) {
    const Digest digest = content_at(path);
    return fmt::format("{}://127.0.0.1:{}/v1/objects/{}.{}", scheme_, port_, digest.hash.hex(), digest.size_bytes);
  }
  if (nginx_) return nginx_->url(path);
  if (vsftpd_) return vsftpd_->url(path);
  if (sshd_) return (scheme_ == "scp" ? scheme_ : "sftp") + sshd_->url(path).substr(std::string_view("sftp").size());
  return "file://" + root_.string() + std::string(path);
}

std::string Origin::final_url(std::string_view path) const {
  if (scheme_ == "hf") return nginx_->url("/content" + std::string(path));
  if (scheme_ == "lfs+http") return nginx_->url("/" + content_at(path).hash.hex());
  return registry_ ? registry_->blob_url(content_at(path).hash.hex()) : url(path);
}

Digest Origin::content_at(std::string_view path) const {
  constexpr std::uintmax_t copied_max = 1 << 30;
  const std::filesystem::path file = root_.string() + percent_decode(path);
  Digest digest;  // of nothing that there is
  digest.size_bytes = 1;
  if (!std::filesystem::exists(file)) return digest;
  const auto version = std::pair(file, std::filesystem::last_write_time(file));
  const std::lock_guard lock(putting_);
  const bool large = std::filesystem::file_size(file) > copied_max;  // linked, and hashed once
  const auto known = put_.find(version);
  return large && known != put_.end() ? known->second : put_[version] = put(file, large);
}

Digest Origin::put(const std::filesystem::path& file, bool large) const {
  if (store_) return store_->adopt(file, large, [](auto) {}).digest;
  const Digest digest = digest_of(file);
  const std::filesystem::path target = place(digest.hash.hex());
  if (std::filesystem::exists(target)) return digest;
  if (large) {
    std::filesystem::create_hard_link(file, target);
  } else {
    std::filesystem::copy_file(file, target);
  }
  return digest;
}

std::filesystem::path Origin::place(const std::string& sha256) const {
  return registry_ ? registry_->place(sha256) : directory_ / "objects" / sha256;
}

FetcherSettings Origin::settings() const {
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}};
  if (nginx_) settings.ca_file = nginx_->ca_file();
  if (vsftpd_) settings.ca_file = vsftpd_->ca_file();
  if (scheme_ == "sabath+tls") settings.ca_file = directory_ / "cert.pem";
  if (scheme_ == "s3") settings.s3.endpoint_url = nginx_->url("");
  if (scheme_ == "hf") settings.hub.endpoint = nginx_->url("");
  if (scheme_ == "globus") {
    const std::string api = "http://127.0.0.1:" + std::to_string(service_.port);
    settings.globus.api = api + "/v0.10";
    settings.web.tokens = {{api, Secret(globus_token), {}, {}}, {nginx_->url(""), Secret(collection_token), {}, {}}};
  }
  if (sshd_) settings.ssh = {.home = {}, .config = sshd_->config(), .user = user_name(), .agent = {}};
  settings.ssh.transport = scheme_ == "sftp+ssh" ? SshTransport::program : SshTransport::library;
  return settings;
}

void Origin::kill() {
  if (nginx_) nginx_->kill();
  if (vsftpd_) vsftpd_->kill();
  if (sshd_) sshd_->kill();
  if (registry_) registry_->kill();
  server_.reset();
}

}  // namespace sabath::test
