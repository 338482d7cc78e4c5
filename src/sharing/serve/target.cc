#include "serve/target.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/text.h"
#include "sabath/recipe.h"

namespace sabath {
namespace {

bool is_lower_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::optional<Sha256> try_parse_hash(std::string_view hex) {
  return hex.size() == 2 * Sha256::size && is_lower_hex(hex) ? Sha256::try_parse(hex) : std::nullopt;
}

std::optional<std::uint64_t> try_parse_size(std::string_view text) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool one_spelling = !text.empty() && (text.size() == 1 || text[0] != '0');
  return error == std::errc{} && end == text.data() + text.size() && one_spelling ? std::optional(size) : std::nullopt;
}

std::optional<Target> try_parse_object(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return std::nullopt;
  const auto hash = try_parse_hash(name.substr(0, dot));
  const auto size = try_parse_size(name.substr(dot + 1));
  if (!hash || !size) return std::nullopt;
  return Target{.kind = Target::Kind::object,
                .digest = {ContentKind::file, *size, *hash},
                .root = {},
                .algorithm = {},
                .hex = {}};
}

std::optional<Target> try_parse_checksum(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos) return std::nullopt;
  const std::string_view algorithm = name.substr(0, slash), hex = name.substr(slash + 1);
  const auto known = std::ranges::find(checksum_algorithms, algorithm, &ChecksumAlgorithm::name);
  if (known == checksum_algorithms.end() || !known->finds || !known->spells(hex)) return std::nullopt;
  return Target{.kind = Target::Kind::checksum,
                .digest = {},
                .root = {},
                .algorithm = std::string(algorithm),
                .hex = std::string(hex)};
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

RequestTarget split_target(std::string_view text) {
  const std::size_t mark = text.find("://");
  const std::string scheme = to_lower(text.substr(0, std::min(mark, text.size())));
  if (mark == text.npos || (scheme != "http" && scheme != "https")) return {{}, text};
  const std::string_view rest = text.substr(mark + 3);
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  return {rest.substr(0, end), end == rest.size() || rest[end] == '?' ? "/" : rest.substr(end)};
}

std::optional<Target> try_parse_target(std::string_view path) {
  if (path == "/v1" || path == "/v1/") return Target{};
  if (take(path, "/v1/objects/")) return try_parse_object(path);
  if (take(path, "/v1/checksums/")) return try_parse_checksum(path);
  if (!take(path, "/v1/manifests/")) return std::nullopt;
  const auto root = try_parse_hash(path);
  if (!root) return std::nullopt;
  return Target{.kind = Target::Kind::manifest, .digest = {}, .root = *root, .algorithm = {}, .hex = {}};
}

}  // namespace sabath
