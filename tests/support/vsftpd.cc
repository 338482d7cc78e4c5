#include "support/vsftpd.h"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "support/seeded.h"

namespace sabath::test {
namespace {

std::string config_of(const VsftpdOptions& options, const std::filesystem::path& directory, std::uint16_t port) {
  return fmt::format(
      "listen=YES\nlisten_ipv6=NO\nlisten_address=127.0.0.1\nlisten_port={}\nbackground=NO\nseccomp_sandbox=NO\n"
      "anonymous_enable={}\nlocal_enable=NO\nno_anon_password=YES\nanon_root={}\nanon_max_rate={}\nftp_username="
      "nobody\n"
      "nopriv_user=nobody\nsecure_chroot_dir={}\nxferlog_enable=NO\nhide_ids=YES\nmdtm_write=NO\nisolate=NO\nisolate_"
      "network=NO\n",
      port, options.anonymous ? "YES" : "NO", options.root.string(), options.rate_max, (directory / "empty").string());
}

}  // namespace

std::string Vsftpd::unavailable_because() {
  if (find_program("vsftpd").empty()) return "vsftpd is not installed";
  if (geteuid() != 0) return "vsftpd must be started by root";
  return "";
}

Vsftpd::Vsftpd(VsftpdOptions options) : options_(std::move(options)) {
  std::filesystem::create_directory(directory_ / "empty");
  const std::filesystem::path config = directory_ / "vsftpd.conf";
  server_ = start_server(
      [&](std::uint16_t port) {
        write_file(config, config_of(options_, directory_.path(), port));
        return std::vector<std::string>{"vsftpd", config};
      },
      directory_ / "output.log");
}

std::string Vsftpd::url(std::string_view path) const { return fmt::format("ftp://127.0.0.1:{}{}", server_.port, path); }

}  // namespace sabath::test
