#include "base/named_checksum.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/hmac.h"
#include "base/text.h"
#include "sabath/digest.h"
#include "sabath/error.h"
#include "sabath/path.h"

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

// "sha256:HEX", as registries name it, or "sha256=HEX".
Checksums of_pair(std::string_view digest, std::string_view between = ":") {
  const std::size_t mark = std::min(digest.find_first_of(between), digest.size());
  return of(digest.substr(0, mark), digest.substr(std::min(mark + 1, digest.size())));
}

[[noreturn]] void refuse_name(const Url& url, std::string_view why) {
  throw Error(FailureKind::invalid, fmt::format("{} names its content by a hash, and {}", url.display(), why),
              "write the address without it, and the checksum into the recipe");
}

// "#sha256=HEX", as indexes of packages write it, among other words: "#egg=x&sha256=HEX".
Checksums of_mark(const Url& url) {
  const std::string& text = url.text();
  std::string_view rest = std::string_view(text).substr(std::min(text.find('#'), text.size()));
  Checksums sums;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find('&'));
    rest.remove_prefix(word.size());
    const Checksums named = of_pair(word, "=:");
    const std::string_view before = word.substr(0, std::min(word.find_first_of("=:"), word.size()));
    if (named.empty() && before.size() < word.size() && find_checksum_algorithm(to_lower(before)) != nullptr)
      refuse_name(url, fmt::format("what it says is no {}", printable(before)));
    for (const auto& algorithm : checksum_algorithms) {
      std::string& known = sums.*algorithm.value;
      const std::string& hex = named.*algorithm.value;
      if (!known.empty() && !hex.empty() && known != hex) refuse_name(url, "there are two");
      if (known.empty()) known = hex;
    }
  }
  return sums;
}

Checksums of_well_known(const Url& url) {
  const std::string name = percent_decode(url.path()).substr(well_known.size());
  if (name.empty()) return {};
  const auto sums = try_parse_ni(name);
  if (!sums) refuse_name(url, "it is none that is computed here");
  return *sums;
}

Checksums of_web(const Url& url) {
  const std::string& path = url.path();
  if (path.starts_with(well_known)) return of_well_known(url);
  const bool by_digest = path.find("/blobs/") != path.npos || path.find("/manifests/") != path.npos;
  const Checksums in_path =
      path.starts_with("/v2/") && by_digest ? of_pair(percent_decode(last_segment(path))) : Checksums{};
  return in_path.empty() ? of_mark(url) : in_path;
}

// /v1/checksums/sha256/HEX
Checksums of_store(const Url& url) {
  constexpr std::string_view checksums = "/v1/checksums/";
  const std::string& path = url.path();
  if (path.starts_with("/v1/objects/")) {  // a fetch compares it, where a manifest says that it is this file's
    throw Error(FailureKind::invalid,
                fmt::format("{} names a file by a digest that only manifests have", url.display()),
                "write sabath://HOST/v1/checksums/sha256/HEX, or pin the asset to its manifest");
  }
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
  if (scheme == "oci") return of_pair(path.substr(std::min(path.find('@'), path.size() - 1) + 1));
  if (scheme == "lfs+http" || scheme == "lfs+https") return of("sha256", last_segment(path));
  if (scheme == "ni") return try_parse_ni(std::string_view(path).substr(path.starts_with('/'))).value_or(Checksums{});
  if (scheme == "sabath" || scheme == "sabath+tls") return of_store(url);
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
