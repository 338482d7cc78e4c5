#include "fetch/lfs_pointer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

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

}  // namespace sabath
