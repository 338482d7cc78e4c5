#include "base/expiry.h"

#include <array>
#include <charconv>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "base/query.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t token_size_max = 64 * 1024;
constexpr std::int64_t seconds_max = 253'402'300'799;  // the year 9999

WallTime at(std::int64_t seconds) { return WallTime(std::chrono::seconds(seconds)); }

class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}
  bool take(std::size_t count, int& value) {
    if (text_.size() < count) return false;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + count, value);
    if (error != std::errc() || end != text_.data() + count || text_.front() == '-') return false;
    text_.remove_prefix(count);
    return true;
  }
  bool skip(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

// "Z", "+01:00", "-0800"; nullopt: none of these.
std::optional<int> try_zone_s(std::string_view text) {
  if (text == "Z") return 0;
  Digits digits(text);
  const int sign = digits.skip('+') ? 1 : digits.skip('-') ? -1 : 0;
  int hours = 0, minutes = 0;
  if (sign == 0 || !digits.take(2, hours)) return std::nullopt;
  digits.skip(':');
  if (!digits.take(2, minutes) || !digits.rest().empty() || hours > 14 || minutes > 59) return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

std::optional<std::int64_t> try_seconds(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > seconds_max) return std::nullopt;
  return value;
}

std::map<std::string, std::string> parameters_of(const Url& url) {
  std::map<std::string, std::string> all;
  std::string_view rest = url.query();
  while (const auto one = next_parameter(rest)) {
    try {
      all.emplace(to_lower(percent_decode(one->name)), percent_decode(one->value.value_or("")));
    } catch (const Error&) {  // skip what cannot be decoded
    }
  }
  return all;
}

// RFC 4648, section 5, without padding.
std::optional<std::string> try_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z')
      value = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      value = static_cast<std::uint32_t>(c - 'a') + 26;
    else if (c >= '0' && c <= '9')
      value = static_cast<std::uint32_t>(c - '0') + 52;
    else if (c == '-' || c == '_')
      value = c == '-' ? 62 : 63;
    else
      return std::nullopt;
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xff));
  }
  return bytes;
}

}  // namespace

std::optional<WallTime> try_parse_time(std::string_view text, bool local) {
  Digits digits(text);
  struct tm time {};
  if (!digits.take(4, time.tm_year)) return std::nullopt;
  const bool dashes = digits.skip('-');
  if (!digits.take(2, time.tm_mon) || (dashes && !digits.skip('-')) || !digits.take(2, time.tm_mday)) {
    return std::nullopt;
  }
  if (!digits.skip('T') && !digits.skip(' ')) return std::nullopt;
  if (!digits.take(2, time.tm_hour)) return std::nullopt;
  digits.skip(':');
  if (!digits.take(2, time.tm_min)) return std::nullopt;
  digits.skip(':');
  const bool seconds = !digits.rest().empty() && digits.rest().front() >= '0' && digits.rest().front() <= '9';
  if (seconds && !digits.take(2, time.tm_sec)) return std::nullopt;
  const bool right = time.tm_year >= 1970 && time.tm_mon >= 1 && time.tm_mon <= 12 && time.tm_mday >= 1 &&
                     time.tm_mday <= 31 && time.tm_hour <= 23 && time.tm_min <= 59 && time.tm_sec <= 60;
  if (!right) return std::nullopt;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  if (local && digits.rest().empty()) {
    time.tm_isdst = -1;
    return at(std::mktime(&time));
  }
  const auto zone = try_zone_s(digits.rest());
  return zone ? std::optional(at(::timegm(&time) - *zone)) : std::nullopt;
}

std::optional<WallTime> presigned_until(const Url& url) {
  const auto all = parameters_of(url);
  const auto get = [&](const char* name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string_view() : std::string_view(found->second);
  };
  for (const auto& [date, span] : std::array<std::pair<const char*, const char*>, 2>{
           {{"x-amz-date", "x-amz-expires"}, {"x-goog-date", "x-goog-expires"}}}) {
    const auto begin = try_parse_time(get(date));
    const auto seconds = try_seconds(get(span));
    if (begin && seconds) return *begin + std::chrono::seconds(*seconds);
  }
  if (!get("sig").empty()) return try_parse_time(get("se"));
  if (!get("signature").empty()) {
    if (const auto until = try_seconds(get("expires"))) return at(*until);
  }
  return std::nullopt;
}

std::optional<WallTime> token_until(std::string_view token) {
  token = trim(token);
  const std::size_t first = token.find('.'), second = token.find('.', first + 1);
  if (token.size() > token_size_max || first == std::string_view::npos || second == std::string_view::npos) {
    return std::nullopt;
  }
  const auto claims = try_base64url(token.substr(first + 1, second - first - 1));
  const auto json = claims ? nlohmann::json::parse(*claims, nullptr, false) : nlohmann::json();
  if (!json.is_object() || !json.contains("exp") || !json["exp"].is_number()) return std::nullopt;
  const double seconds = json["exp"].get<double>();
  if (!(seconds >= 0) || seconds > static_cast<double>(seconds_max)) return std::nullopt;
  return at(static_cast<std::int64_t>(seconds));
}

}  // namespace sabath
