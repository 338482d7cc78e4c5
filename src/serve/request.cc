#include "serve/request.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "base/hash.h"

namespace sabath {
namespace {

// As the client names this server: in the next page's address. Empty: by nothing that can stand in one.
std::string origin_of(MHD_Connection* connection, bool tls) {
  const std::string_view host = header(connection, "Host");
  constexpr std::string_view may_stand = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
  if (host.empty() || host.size() > 255 || host.find_first_not_of(may_stand) != host.npos) return "";
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

std::size_t head_size(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == nullptr ? 0 : info->header_size;
}

HubQuery hub_query_of(MHD_Connection* connection, bool tls) {
  const std::string_view recursive = argument(connection, "recursive"), cursor = argument(connection, "cursor");
  HubQuery query{
      .recursive = recursive == "true" || recursive == "True", .begin = 0, .origin = origin_of(connection, tls)};
  if (std::from_chars(cursor.data(), cursor.data() + cursor.size(), query.begin).ec != std::errc{}) query.begin = 0;
  return query;
}

}  // namespace sabath
