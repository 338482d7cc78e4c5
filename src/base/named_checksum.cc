#include "base/named_checksum.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/hmac.h"
#include "base/text.h"
#include "sabath/digest.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::string_view well_known = "/.well-known/ni/";

Checksums of(std::string_view algorithm, std::string_view hex) {
  Checksums sums;
  const ChecksumAlgorithm* known = find_checksum_algorithm(to_lower(algorithm));
  std::string digits = to_lower(hex);
  if (known != nullptr && known->spells(digits)) sums.*known->value = std::move(digits);
  return sums;
}

std::string_view last_segment(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "sha256:HEX", as registries name it.
Checksums of_oci(std::string_view digest) {
  const std::size_t colon = std::min(digest.find(':'), digest.size());
  return of(digest.substr(0, colon), digest.substr(std::min(colon + 1, digest.size())));
}

// "#sha256=HEX", as indexes of packages write it.
Checksums of_mark(const std::string& text) {
  const std::size_t mark = text.find('#');
  if (mark == std::string::npos) return {};
  const std::string_view said = std::string_view(text).substr(mark + 1);
  const std::size_t equals = std::min(said.find('='), said.size());
  return of(said.substr(0, equals), said.substr(std::min(equals + 1, said.size())));
}

Checksums of_web(const Url& url) {
  const std::string& path = url.path();
  if (path.starts_with(well_known))
    return try_parse_ni(percent_decode(path).substr(well_known.size())).value_or(Checksums{});
  const bool blob = path.starts_with("/v2/") && path.find("/blobs/") != path.npos;
  return blob ? of_oci(percent_decode(last_segment(path))) : of_mark(url.text());
}

// /v1/checksums/sha256/HEX
Checksums of_store(const std::string& path) {
  constexpr std::string_view checksums = "/v1/checksums/";
  if (!path.starts_with(checksums)) return {};
  const std::string_view rest = std::string_view(path).substr(checksums.size());
  return of(rest.substr(0, rest.find('/')), last_segment(rest));
}

}  // namespace

std::optional<Checksums> try_parse_ni(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of(";/"), text.size());
  std::string base64(text.substr(std::min(mark + 1, text.size())));
  std::ranges::replace(base64, '-', '+');
  std::ranges::replace(base64, '_', '/');
  base64.append((4 - base64.size() % 4) % 4, '=');
  const auto bytes = try_from_base64(base64);
  if (!bytes || bytes->empty()) return std::nullopt;
  Checksums sums =
      of(text.substr(0, mark), to_hex({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()}));
  return sums.empty() ? std::nullopt : std::optional(std::move(sums));
}

Checksums checksum_in_name(const Url& url) {
  const std::string& scheme = url.scheme();
  const std::string& path = url.path();
  if (scheme == "oci") return of_oci(path.substr(std::min(path.find('@'), path.size() - 1) + 1));
  if (scheme == "lfs+http" || scheme == "lfs+https") return of("sha256", last_segment(path));
  if (scheme == "ni") return try_parse_ni(std::string_view(path).substr(path.starts_with('/'))).value_or(Checksums{});
  if (scheme == "sabath" || scheme == "sabath+tls") return of_store(path);
  return scheme == "http" || scheme == "https" ? of_web(url) : Checksums{};
}

void add_named_checksums(const std::vector<Url>& urls, Checksums& published) {
  for (const Url& url : urls) {
    const Checksums named = checksum_in_name(url);
    for (const auto& algorithm : checksum_algorithms) {
      const std::string& hex = named.*algorithm.value;
      std::string& known = published.*algorithm.value;
      if (hex.empty()) continue;
      if (!known.empty() && known != hex) {
        throw Error(FailureKind::invalid,
                    fmt::format("{} names content whose {} is {}, and {} is published for the same file", url.display(),
                                algorithm.name, hex, known),
                    "the sources of one file give the same bytes: mend the one that is wrong");
      }
      known = hex;
    }
  }
}

}  // namespace sabath
