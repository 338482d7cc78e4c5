#include "s3/sigv4.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/hmac.h"
#include "base/text.h"

namespace sabath::s3 {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

std::string hex_of(std::string_view bytes) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string timestamp(std::time_t now) {
  std::tm time{};
  ::gmtime_r(&now, &time);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &time);
  return {text.data(), size};
}

// Leading and trailing blanks gone, runs of blanks within as one.
std::string folded(std::string_view value) {
  std::string out;
  for (const char c : trim(value)) {
    if (c != ' ' || !out.ends_with(' ')) out += c;
  }
  return out;
}

std::string names_of(const Fields& headers) {
  std::string names;
  for (const auto& [name, value] : headers) names += (names.empty() ? "" : ";") + name;
  return names;
}

Fields headers_to_sign(const Unsigned& request, const Keys& keys, const std::string& time) {
  Fields headers = request.headers;
  headers.emplace_back("host", request.host);
  headers.emplace_back("x-amz-date", time);
  if (request.payload_hash) headers.emplace_back("x-amz-content-sha256", sha256(std::string_view()).hex());
  if (!keys.session_token.empty()) headers.emplace_back("x-amz-security-token", keys.session_token.reveal());
  std::sort(headers.begin(), headers.end());
  return headers;
}

}  // namespace

std::string uri_encode(std::string_view text, bool keep_slash) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || (c == '/' && keep_slash);
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string canonical_query(const Fields& query) {
  Fields encoded;
  for (const auto& [name, value] : query) encoded.emplace_back(uri_encode(name, false), uri_encode(value, false));
  std::sort(encoded.begin(), encoded.end());
  std::string text;
  for (const auto& [name, value] : encoded) text += (text.empty() ? "" : "&") + name + '=' + value;
  return text;
}

std::string canonical_request(const Unsigned& request, const Fields& signed_headers) {
  std::string text =
      request.method + '\n' + uri_encode(request.path, true) + '\n' + canonical_query(request.query) + '\n';
  for (const auto& [name, value] : signed_headers) text += name + ':' + folded(value) + '\n';
  return text + '\n' + names_of(signed_headers) + '\n' + sha256(std::string_view()).hex();
}

std::vector<std::string> sign(const Unsigned& request, const Keys& keys, std::time_t now) {
  if (keys.empty()) return {};
  const std::string time = timestamp(now), date = time.substr(0, 8);
  const Fields headers = headers_to_sign(request, keys, time);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", date, request.region, request.service);
  const std::string to_sign =
      fmt::format("{}\n{}\n{}\n{}", algorithm, time, scope, sha256(canonical_request(request, headers)).hex());
  Secret key("AWS4" + std::string(keys.secret.reveal()));
  for (const std::string_view part : {std::string_view(date), std::string_view(request.region),
                                      std::string_view(request.service), std::string_view("aws4_request")}) {
    key = Secret(hmac("sha256", key.reveal(), part));
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : headers) {
    if (name != "host") lines.push_back(fmt::format("{}: {}", name, value));
  }
  lines.push_back(fmt::format("Authorization: {} Credential={}/{}, SignedHeaders={}, Signature={}", algorithm,
                              keys.access_key_id, scope, names_of(headers),
                              hex_of(hmac("sha256", key.reveal(), to_sign))));
  return lines;
}

}  // namespace sabath::s3
