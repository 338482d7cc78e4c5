#include "serve/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "serve/target.h"

namespace sabath {
namespace {

constexpr std::size_t head_size_max = 16 * 1024, host_size_max = 255;

// All lines of that name, in their order.
std::vector<std::string_view> lines_of(MHD_Connection* connection, std::string_view name) {
  struct Looking {
    std::string_view name;
    std::vector<std::string_view> found;
  } looking{name, {}};
  const auto look = [](void* self, MHD_ValueKind, const char* key, const char* value) -> MHD_Result {
    auto& state = *static_cast<Looking*>(self);
    if (to_lower(key) == state.name) state.found.emplace_back(value == nullptr ? "" : value);
    return MHD_YES;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, look, &looking);
  return std::move(looking.found);
}

std::string list_of(MHD_Connection* connection, std::string_view name) {
  std::string list;
  for (const auto line : lines_of(connection, name)) list += (list.empty() ? "" : ", ") + std::string(line);
  return list;
}

// No white space stands before the colon (RFC 9112 section 5.1): two readers would see two different fields.
bool has_plain_names(MHD_Connection* connection) {
  bool plain = true;
  const auto look = [](void* self, MHD_ValueKind, const char* key, const char*) -> MHD_Result {
    if (std::string_view(key).find_first_of(" \t") != std::string_view::npos) *static_cast<bool*>(self) = false;
    return MHD_YES;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, look, &plain);
  return plain;
}

// RFC 3986: a name, an address or nothing, and a port.
bool is_host(std::string_view host) {
  constexpr std::string_view may_stand =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%!$&'()*+,;=:[]";
  return host.size() <= host_size_max && host.find_first_not_of(may_stand) == host.npos;
}

bool names_one_host(MHD_Connection* connection) {
  const auto hosts = lines_of(connection, "host");
  return hosts.size() <= 1 && (hosts.empty() || is_host(trim(hosts.front())));
}

// Where a body ends has one answer (RFC 9112 section 6.3).
bool has_one_length(MHD_Connection* connection) {
  const auto codings = lines_of(connection, "transfer-encoding"), lengths = lines_of(connection, "content-length");
  if (codings.size() > 1 || (!codings.empty() && (to_lower(trim(codings.front())) != "chunked" || !lengths.empty())))
    return false;
  return std::ranges::all_of(lengths, [&](std::string_view length) {
    return length == lengths.front() && !length.empty() && length.find_first_not_of("0123456789") == length.npos;
  });
}

std::size_t head_size(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == nullptr ? 0 : info->header_size;
}

// As the client names this server: in the next page's address. Empty: by nothing that can stand in one.
std::string origin_of(MHD_Connection* connection, const std::string& target, bool tls) {
  const std::string_view named = split_target(target).authority;
  const std::string_view host = named.empty() ? header(connection, "Host") : named;
  constexpr std::string_view may_stand = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
  if (host.empty() || host.size() > host_size_max || host.find_first_not_of(may_stand) != host.npos) return "";
  return fmt::format("{}://{}", tls ? "https" : "http", host);
}

std::string_view argument(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

// It compares hashes of equal length, to the end.
bool equal(const Secret& token, std::string_view offered) {
  const auto a = sha256(token.reveal()).bytes(), b = sha256(offered).bytes();
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

std::string_view header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

int socket_of(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

bool has_body(MHD_Connection* connection) {
  const std::string_view length = header(connection, "Content-Length");
  return (!length.empty() && length != "0") || !header(connection, "Transfer-Encoding").empty();
}

std::optional<Refusal> refusal_of(MHD_Connection* connection, const RequestHead& head) {
  constexpr const char *field = "Connection", *close = "close";
  if (!head.whole) return Refusal{400, "a path has no NUL", field, close};
  if (head_size(connection) > head_size_max) return Refusal{431, "a head has at most 16 KiB"};
  if (!has_plain_names(connection)) return Refusal{400, "a field's name has no space", field, close};
  if (!names_one_host(connection)) return Refusal{400, "a request names one host", field, close};
  if (!has_one_length(connection)) return Refusal{400, "where the body ends is not clear", field, close};
  if (head.method != "GET" && head.method != "HEAD")
    return Refusal{405, "this source is read-only", "Allow", "GET, HEAD"};
  if (has_body(connection)) return Refusal{413, "a request has no body here", field, close};
  return std::nullopt;
}

Conditions conditions_of(MHD_Connection* connection, const std::string& method) {
  return {.range = method == "GET" ? header(connection, "Range") : std::string_view(),
          .if_match = list_of(connection, "if-match"),
          .if_none_match = list_of(connection, "if-none-match"),
          .if_range = header(connection, "If-Range")};
}

HubQuery hub_query_of(MHD_Connection* connection, const std::string& target, bool tls) {
  const std::string_view recursive = argument(connection, "recursive"), cursor = argument(connection, "cursor");
  HubQuery query{.recursive = recursive == "true" || recursive == "True",
                 .begin = 0,
                 .origin = origin_of(connection, target, tls)};
  if (std::from_chars(cursor.data(), cursor.data() + cursor.size(), query.begin).ec != std::errc{}) query.begin = 0;
  return query;
}

}  // namespace sabath
