#include "sftp/known_hosts.h"

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/hmac.h"
#include "base/split.h"
#include "base/text.h"
#include "sftp/ssh_config.h"

namespace sabath {
namespace {

constexpr std::uint64_t known_hosts_size_max = 16 * 1024 * 1024;

std::string_view take_host_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

// "|1|salt|hash": HMAC-SHA1 of the name, so that the file does not tell where its owner goes.
bool matches_hashed(std::string_view field, const std::string& name) {
  const auto parts = parts_at(field, '|');
  if (parts.size() != 4 || parts[1] != "1") return false;
  const auto salt = try_from_base64(parts[2]), hash = try_from_base64(parts[3]);
  return salt && hash && hmac("sha1", *salt, name) == *hash;
}

}  // namespace

KnownKeys::Answer KnownKeys::judge(const HostKey& key) const {
  if (std::find(revoked.begin(), revoked.end(), key) != revoked.end()) return Answer::revoked;
  if (std::find(accepted.begin(), accepted.end(), key) != accepted.end()) return Answer::known;
  return accepted.empty() ? Answer::unknown : Answer::changed;
}

void note_known_keys(KnownKeys& keys, std::string_view text, const std::string& name) {
  for (const std::string& each : parts_at(text, '\n')) {
    std::string_view line = each;
    std::string_view names = take_host_word(line);
    if (names.empty() || names.starts_with('#')) continue;
    const std::string_view marker = names.starts_with('@') ? names : "";
    if (!marker.empty()) names = take_host_word(line);
    if (marker == "@cert-authority") continue;
    const std::string_view type = take_host_word(line);
    const auto blob = try_from_base64(take_host_word(line));
    if (!blob || type.empty() || key_type(*blob) != type) continue;
    const bool meant =
        names.starts_with('|') ? matches_hashed(names, name) : matches_patterns(name, parts_at(names, ','));
    if (meant) (marker == "@revoked" ? keys.revoked : keys.accepted).push_back({std::string(type), *blob});
  }
}

KnownKeys read_known_keys(const std::vector<std::filesystem::path>& files, const std::string& name) {
  KnownKeys keys;
  for (const auto& file : files) {
    if (const auto text = try_read_text(file, known_hosts_size_max)) note_known_keys(keys, *text, name);
  }
  return keys;
}

std::string key_type(std::string_view blob) {
  if (blob.size() < 4) return {};
  std::size_t length = 0;
  for (int i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(blob[static_cast<std::size_t>(i)]);
  return length <= blob.size() - 4 ? std::string(blob.substr(4, length)) : "";
}

std::string key_fingerprint(std::string_view blob) {
  const Sha256 digest = sha256(blob);
  std::string text = to_base64({reinterpret_cast<const char*>(digest.bytes().data()), digest.bytes().size()});
  while (text.ends_with('=')) text.pop_back();
  return "SHA256:" + text;
}

}  // namespace sabath
