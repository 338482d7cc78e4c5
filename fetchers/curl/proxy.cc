#include "curl/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace sabath {
namespace {

using Environment = std::map<std::string, std::string>;

std::string variable_of(const Environment& environment, const std::string& name) {
  const bool read = std::ranges::find(proxy_variables, name) != proxy_variables.end();
  const auto found = environment.find(name);
  return !read || found == environment.end() ? "" : found->second;
}

std::string to_upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string either(const Environment& environment, const std::string& name) {
  const std::string value = variable_of(environment, name);
  return value.empty() ? variable_of(environment, to_upper(name)) : value;
}

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  unsigned bits = 0;
};

std::optional<Address> try_address(const std::string& text) {
  Address address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) address.bits = 32;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) address.bits = 128;
  return address.bits == 0 ? std::nullopt : std::optional(address);
}

bool is_in(const Address& host, const Address& network, std::uint64_t bits) {
  if (host.bits != network.bits || bits > host.bits) return false;
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned mask = 0x80U >> (i % 8);
    if ((host.bytes[i / 8] & mask) != (network.bytes[i / 8] & mask)) return false;
  }
  return true;
}

bool stands_for(std::string_view entry, const std::string& host) {
  if (const auto address = try_address(host)) {
    const std::size_t slash = entry.find('/');
    const auto network = try_address(std::string(entry.substr(0, slash)));
    const auto bits = slash == entry.npos ? 128 : try_whole_number(entry.substr(slash + 1)).value_or(UINT64_MAX);
    return network && is_in(*address, *network, slash == entry.npos ? network->bits : bits);
  }
  if (entry.ends_with('.')) entry.remove_suffix(1);
  if (entry.starts_with('.')) entry.remove_prefix(1);
  const std::string name = to_lower(entry);
  return !name.empty() && (host == name || host.ends_with("." + name));
}

bool goes_without(const std::string& entries, std::string host) {
  if (entries == "*") return true;
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  if (host.ends_with('.')) host.pop_back();
  for (std::string_view rest = entries; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(", \t"), rest.size());
    if (stands_for(rest.substr(0, end), host)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

std::string proxy_for(const Url& url, const Environment& environment) {
  const std::string own = url.scheme() + "_proxy";
  std::string proxy = either(environment, own);  // no client of a CGI program can set http_proxy: it has no twin
  if (proxy.empty()) proxy = either(environment, "all_proxy");
  return goes_without(either(environment, "no_proxy"), url.host()) ? "" : proxy;
}

}  // namespace sabath
