#include "fetch/git/lfs_pointer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/text.h"

namespace sabath {
namespace {

// The value of the next line, whose key is this one; nullopt: it is not.
std::optional<std::string_view> take_value(std::string_view& rest, std::string_view key) {
  const std::size_t end = rest.find('\n');
  if (end == rest.npos || !rest.starts_with(key) || rest.substr(key.size(), 1) != " ") return std::nullopt;
  const std::string_view value = rest.substr(key.size() + 1, end - key.size() - 1);
  rest.remove_prefix(end + 1);
  return value;
}

}  // namespace

std::optional<LfsPointer> try_parse_lfs_pointer(std::string_view text) {
  if (text.size() >= lfs_pointer_size_max) return std::nullopt;
  if (take_value(text, "version") != "https://git-lfs.github.com/spec/v1") return std::nullopt;
  while (text.starts_with("ext-")) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const auto oid = take_value(text, "oid");
  const auto size = take_value(text, "size");
  if (!oid || !oid->starts_with("sha256:") || !size) return std::nullopt;
  LfsPointer pointer{.sha256 = std::string(oid->substr(7)), .size_bytes = 0};
  if (pointer.sha256.size() != 64 || pointer.sha256.find_first_not_of("0123456789abcdef") != std::string::npos)
    return std::nullopt;
  const auto [end, error] = std::from_chars(size->data(), size->data() + size->size(), pointer.size_bytes);
  if (size->empty() || error != std::errc() || end != size->data() + size->size()) return std::nullopt;
  return pointer;
}

std::optional<Url> try_lfs_url(const std::string& origin, const LfsPointer& pointer) {
  std::string server = origin;
  if (constexpr std::string_view ssh = "ssh://"; server.starts_with(ssh)) {  // its LFS is asked by https
    server.erase(0, ssh.size());
    const std::size_t host = std::min(server.find('@') + 1, server.find('/'));
    const std::size_t path = server.find('/');
    if (path == std::string::npos || host > path) return std::nullopt;
    const std::size_t colon = server.find(':', host);
    server = "https://" + server.substr(host, std::min(colon, path) - host) + server.substr(path);
  }
  if (!server.starts_with("https://") && !server.starts_with("http://")) return std::nullopt;
  while (server.ends_with('/')) server.pop_back();
  if (!server.ends_with(".git")) server += ".git";
  return Url::try_parse(fmt::format("lfs+{}/info/lfs/{}?size={}", server, pointer.sha256, pointer.size_bytes));
}

// BACKEND, fields of a letter and digits such as -s123, "--" and a name, which of the backends with E ends in the
// file's own ending.
std::optional<AnnexKey> try_parse_annex_key(std::string_view text) {
  const std::size_t name_at = text.find("--");
  const std::string_view head = text.substr(0, name_at), backend = head.substr(0, head.find('-'));
  const bool plain = backend.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == backend.npos;
  if (name_at == text.npos || backend.empty() || !plain || text.size() < name_at + 3) return std::nullopt;
  if (text.find_first_of("/\n", 0) != text.npos) return std::nullopt;
  AnnexKey key{.text = std::string(text), .size_bytes = std::nullopt, .checksum = {}};
  for (std::string_view rest = head.substr(backend.size()); !rest.empty();) {
    const std::string_view field = rest.substr(1, rest.find('-', 1) - 1);
    rest.remove_prefix(field.size() + 1);
    if (field.starts_with('s')) key.size_bytes = try_whole_number(field.substr(1));
  }
  std::string algorithm = to_lower(backend);
  if (find_checksum_algorithm(algorithm) == nullptr && algorithm.ends_with('e')) algorithm.pop_back();
  const ChecksumAlgorithm* known = find_checksum_algorithm(algorithm);
  const std::string_view hex = text.substr(name_at + 2, known == nullptr ? 0 : known->digits);
  if (known != nullptr && known->spells(hex)) key.checksum.*known->value = hex;
  return key;
}

std::optional<AnnexKey> try_parse_annex_pointer(std::string_view text) {
  constexpr std::string_view prefix = "/annex/objects/";
  if (text.size() > annex_pointer_size_max) return std::nullopt;
  if (text.starts_with(prefix))
    return try_parse_annex_key(trim(text.substr(prefix.size(), text.find('\n') - prefix.size())));
  return try_parse_annex_link(trim(text));  // a symlink where the system that committed it had none
}

std::optional<AnnexKey> try_parse_annex_link(std::string_view target) {
  const std::size_t at = target.find("annex/objects/");
  const std::size_t git = target.find(".git/");
  if (at == target.npos || git > at) return std::nullopt;
  return try_parse_annex_key(target.substr(target.rfind('/') + 1));
}

}  // namespace sabath
