#include "base/reach.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/glob.h"
#include "base/query.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

struct Block {
  std::uint32_t network;
  int prefix_bits;
  Reach reach;
};

constexpr Block reserved_blocks[] = {
    {0x7f000000, 8, Reach::host},   // 127.0.0.0/8
    {0x00000000, 8, Reach::host},   // 0.0.0.0/8: connects to this machine
    {0xa9fe0000, 16, Reach::link},  // 169.254.0.0/16
    {0x646464c8, 32, Reach::link},  // 100.100.100.200: metadata at Alibaba
    {0xc00000c0, 32, Reach::link},  // 192.0.0.192: at Oracle
    {0xa83f8110, 32, Reach::link},  // 168.63.129.16: at Azure
    {0x0a000000, 8, Reach::site},   // 10.0.0.0/8
    {0xac100000, 12, Reach::site},  // 172.16.0.0/12
    {0xc0a80000, 16, Reach::site},  // 192.168.0.0/16
    {0x64400000, 10, Reach::site},  // 100.64.0.0/10: carrier's shared space
    {0xc0000000, 24, Reach::site},  // 192.0.0.0/24
    {0xc6120000, 15, Reach::site},  // 198.18.0.0/15: benchmarking
};

Reach reach_of_v4(std::uint32_t address) {
  for (const Block& block : reserved_blocks) {
    if ((std::uint64_t{address ^ block.network} >> (32 - block.prefix_bits)) == 0) return block.reach;
  }
  return Reach::global;
}

std::uint32_t v4_at(const std::array<std::uint8_t, 16>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 |
         std::uint32_t{bytes[at + 3]};
}

// Private prefixes in which clouds answer with credentials: all that stands below them is theirs.
bool is_metadata_v6(const std::array<std::uint8_t, 16>& bytes) {
  constexpr std::array<std::array<std::uint8_t, 4>, 5> prefixes{{
      {0xfd, 0x00, 0x0e, 0xc2},  // Amazon: fd00:ec2::254, ::23
      {0xfd, 0x20, 0x00, 0xce},  // Google: fd20:ce::254
      {0xfd, 0x00, 0x00, 0x42},  // Scaleway: fd00:42::42
      {0xfd, 0x00, 0x00, 0xc1},  // Oracle: fd00:c1::a9fe:a9fe
      {0xfd, 0x00, 0xa9, 0xfe},  // Linode: fd00:a9fe:a9fe::1
  }};
  return std::ranges::any_of(
      prefixes, [&](const auto& prefix) { return std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0; });
}

Reach reach_of_v6(const std::array<std::uint8_t, 16>& bytes) {
  constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // ::ffff:0:0/96
  constexpr std::array<std::uint8_t, 12> nat64 = {0x00, 0x64, 0xff, 0x9b};                     // 64:ff9b::/96
  constexpr std::array<std::uint8_t, 12> zeros = {};                                           // ::, ::1, old v4 form
  const bool holds_v4 = std::memcmp(bytes.data(), mapped.data(), 12) == 0 ||
                        std::memcmp(bytes.data(), nat64.data(), 12) == 0 ||
                        std::memcmp(bytes.data(), zeros.data(), 12) == 0;
  if (holds_v4) return reach_of_v4(v4_at(bytes, 12));
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) return Reach::link;  // fe80::/10
  if (is_metadata_v6(bytes)) return Reach::link;
  if ((bytes[0] & 0xfe) == 0xfc) return Reach::site;                                // fc00::/7
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0xc0) return Reach::site;            // fec0::/10
  constexpr std::array<std::uint8_t, 6> local_nat64 = {0, 0x64, 0xff, 0x9b, 0, 1};  // 64:ff9b:1::/48
  if (std::memcmp(bytes.data(), local_nat64.data(), local_nat64.size()) == 0) return Reach::site;
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return reach_of_v4(v4_at(bytes, 2));  // 2002::/16: 6to4
  return Reach::global;
}

}  // namespace

Reach reach_of(std::string_view address) {
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (address.ends_with('.')) address.remove_suffix(1);  // of the root of all names
  const std::string text(address.substr(0, address.find('%')));
  in_addr v4{};
  if (inet_aton(text.c_str(), &v4) != 0) return reach_of_v4(ntohl(v4.s_addr));  // also the short and octal forms
  std::array<std::uint8_t, 16> v6{};
  if (inet_pton(AF_INET6, text.c_str(), v6.data()) == 1) return reach_of_v6(v6);
  if (text == "localhost" || text.ends_with(".localhost")) return Reach::host;
  return Reach::global;
}

Reach reach_of(const Url& url) {
  Reach reach = reach_of(std::string_view(url.host()));
  if (url.scheme() != "s3") return reach;
  std::string_view rest = url.query();
  while (const auto one = next_parameter(rest)) {
    if (!one->value || percent_decode(one->name) != "endpoint_override") continue;
    const auto endpoint = Url::try_parse("https://" + percent_decode(*one->value));
    reach = std::max(reach, endpoint ? reach_of(std::string_view(endpoint->host())) : Reach::host);
  }
  return reach;
}

// In a pattern the brackets of an IPv6 address would stand for one letter.
bool is_near_host(std::string_view host, std::span<const std::string> near_hosts) {
  return std::ranges::any_of(near_hosts, [&](const std::string& pattern) {
    return pattern == host || fmt::format("[{}]", pattern) == host || glob_matches(pattern, host);
  });
}

Reach check_reach(const Url& url, std::string_view address, std::span<const std::string> near_hosts) {
  const Reach named = reach_of(std::string_view(url.host())), real = reach_of(address);
  const Reach reach = std::max(named, real);
  if (is_near_host(url.host(), near_hosts)) return reach;
  const std::string where = printable(address.empty() ? std::string_view(url.host()) : address);
  if (named == Reach::link || real == Reach::link) {
    throw Error(FailureKind::unavailable,
                fmt::format("cannot read {}: it leads to {}, a link-local or metadata address, where this machine's "
                            "own secrets may be had",
                            url.display(), where),
                "no source is asked there; if it is meant, name its host in `near_hosts` of the configuration");
  }
  if (url.namer() && reach > url.namer()->reach) {
    throw Error(FailureKind::unavailable,
                fmt::format("cannot read {}: a source that is farther away leads to it, and it is at the private "
                            "address {}",
                            url.display(), where),
                "a public source may not point into this network; name the target itself if it is meant, or its host "
                "in `near_hosts` of the configuration");
  }
  return reach;
}

}  // namespace sabath
