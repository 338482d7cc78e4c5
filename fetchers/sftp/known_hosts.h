// The host keys that the user has accepted: the known_hosts format of sshd(8), with plain, hashed and patterned names
// and the marker @revoked. Certificate authorities are passed over. Nothing is ever added here: a key is accepted by a
// person, with ssh. Pure but for reading the files; any thread. Lines that make no sense are no hosts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct HostKey {
  std::string type;  // "ssh-ed25519"
  std::string blob;  // as the wire has it
  friend bool operator==(const HostKey&, const HostKey&) = default;
};

struct KnownKeys {
  std::vector<HostKey> accepted, revoked;

  enum class Answer { known, unknown, changed, revoked };
  [[nodiscard]] Answer judge(const HostKey& key) const;
};

// Adds the keys that `text` has for the host `name`: "host", or "[host]:port" for another port than 22.
void note_known_keys(KnownKeys& keys, std::string_view text, const std::string& name);
[[nodiscard]] KnownKeys read_known_keys(const std::vector<std::filesystem::path>& files, const std::string& name);

[[nodiscard]] std::string key_type(std::string_view blob);         // its first string; empty if it has none
[[nodiscard]] std::string key_fingerprint(std::string_view blob);  // "SHA256:..." as ssh-keygen -l prints it

}  // namespace sabath
