#include "http/quota.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "curl/transport.h"

namespace sabath {
namespace {

constexpr std::int64_t pause_s_max = 3600;
constexpr std::int64_t seconds_of_1990 = 631'152'000;  // no server means a delay of 20 years: that is a date
constexpr std::size_t header_size_max = 1024;

// A count of seconds or requests; what is more than an integer holds is the largest one.
std::optional<std::int64_t> try_parse_count(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.front() == '-' || end != text.data() + text.size()) return std::nullopt;
  return error == std::errc() ? number : INT64_MAX;
}

std::chrono::milliseconds pause_of(std::int64_t seconds) {
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, pause_s_max));
}

std::optional<std::chrono::milliseconds> pause_of(std::string_view remaining, std::string_view reset,
                                                  std::int64_t now) {
  const auto at = try_parse_count(reset);
  if (!at || try_parse_count(remaining) != 0) return std::nullopt;
  return pause_of(*at >= seconds_of_1990 ? *at - now : *at);
}

template <class Visit>
void for_each_part(std::string_view text, char separator, Visit&& visit) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view part = text.substr(begin, text.find(separator, begin) - begin);
    visit(trim(part));
    begin += part.size() + 1;
  }
}

// The text behind "key=" in one of the parts.
std::string_view value_of(std::string_view text, char separator, std::string_view key) {
  std::string_view value;
  for_each_part(text, separator, [&](std::string_view part) {
    if (part.starts_with(key) && part.substr(key.size()).starts_with('=')) value = part.substr(key.size() + 1);
  });
  return value;
}

}  // namespace

std::optional<std::chrono::milliseconds> try_parse_retry_after(const std::string& text, std::int64_t now) {
  if (const auto seconds = try_parse_count(text)) return pause_of(*seconds);
  const auto date = text.empty() ? std::nullopt : parse_http_date(text);
  return date ? std::optional(pause_of(static_cast<std::int64_t>(*date) - now)) : std::nullopt;
}

std::optional<std::chrono::milliseconds> quota_pause(const ResponseHead& head, std::int64_t now) {
  auto pause = pause_of(head.quota_remaining, head.quota_reset, now);
  const std::string_view quota = std::string_view(head.quota).substr(0, header_size_max);
  pause = std::max(pause, pause_of(value_of(quota, ',', "remaining"), value_of(quota, ',', "reset"), now));
  for_each_part(quota, ',', [&](std::string_view policy) {
    pause = std::max(pause, pause_of(value_of(policy, ';', "r"), value_of(policy, ';', "t"), now));
  });
  return pause;
}

}  // namespace sabath
