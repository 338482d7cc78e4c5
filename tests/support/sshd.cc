#include "support/sshd.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr const char* sshd_conf = R"(ListenAddress 127.0.0.1
Port {port}
HostKey {dir}/host_key
PidFile none
AuthorizedKeysFile {dir}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
Subsystem sftp internal-sftp
{more}
)";

std::string first_words(const std::filesystem::path& file) {
  std::string type, key;
  std::ifstream(file) >> type >> key;
  return type + ' ' + key;
}

}  // namespace

void make_ssh_key(const std::filesystem::path& file, const std::string& type, const std::string& passphrase) {
  ChildProcess keygen({"ssh-keygen", "-q", "-t", type, "-N", passphrase, "-f", file}, file.string() + ".log");
  if (keygen.wait() != 0) throw std::runtime_error("ssh-keygen made no key " + file.string());
}

std::string Sshd::unavailable_because() {
  if (find_program("sshd").empty()) return "the OpenSSH server is not installed";
  if (find_program("ssh-keygen").empty()) return "ssh-keygen is not installed";
  return "";
}

Sshd::Sshd(SshdOptions options) : options_(std::move(options)) {
  if (geteuid() == 0) std::filesystem::create_directories("/run/sshd");  // sshd insists; a booted machine has it
  make_ssh_key(directory_ / "host_key", "ed25519");
  make_ssh_key(key(), "ed25519");
  std::filesystem::copy_file(key().string() + ".pub", directory_ / "authorized_keys");
  server_ = start_server(
      [&](std::uint16_t port) {
        write_file(directory_ / "sshd_config",
                   fmt::format(sshd_conf, fmt::arg("port", port), fmt::arg("dir", directory_.path().string()),
                               fmt::arg("more", options_.more)));
        return std::vector<std::string>{find_program("sshd"), "-D", "-e", "-f", directory_ / "sshd_config"};
      },
      directory_ / "output.log");
  relay_ = std::make_unique<Relay>(server_.port, options_.rate);
  write_file(known_hosts(), name() + ' ' + host_key() + '\n');
  write_file(config(), fmt::format("IdentityFile {}\nUserKnownHostsFile {}\nGlobalKnownHostsFile none\n",
                                   key().string(), known_hosts().string()));
}

std::string Sshd::url(std::string_view path) const {
  return fmt::format("sftp://127.0.0.1:{}{}{}", port(), options_.root.string(), path);
}

std::string Sshd::host_key() const { return first_words(directory_ / "host_key.pub"); }
std::string Sshd::name() const { return fmt::format("[127.0.0.1]:{}", port()); }

void Sshd::kill() {
  server_.child->kill();
  relay_->cut();
}

}  // namespace sabath::test
