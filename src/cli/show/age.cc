#include "cli/show/age.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ctime>
#include <system_error>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

struct Unit {
  char letter;
  std::int64_t seconds;
  const char* name;
};
constexpr std::array<Unit, 5> units{
    {{'w', 604'800, "week"}, {'d', 86'400, "day"}, {'h', 3600, "hour"}, {'m', 60, "minute"}, {'s', 1, "second"}}};
constexpr std::int64_t age_max_s = 100LL * 366 * 86'400;

}  // namespace

std::optional<std::chrono::seconds> parse_age(const std::optional<std::string>& text, const std::string& what) {
  if (!text) return std::nullopt;
  std::int64_t count = -1;
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, count);
  for (const Unit& unit : units) {
    const bool ours = error == std::errc() && end + 1 == last && *end == unit.letter;
    if (ours && count >= 0 && count <= age_max_s / unit.seconds) return std::chrono::seconds(count * unit.seconds);
  }
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", what, printable(*text)),
              "give a span of time such as 30d, 12h, 90m or 45s");
}

std::string format_ago(std::int64_t then_ns, std::int64_t now_ns) {
  const std::int64_t seconds = (now_ns - then_ns) / 1'000'000'000;
  for (const Unit& unit : units) {
    const std::int64_t count = seconds / unit.seconds;
    if (unit.letter != 'w' && count > 0) return fmt::format("{} {}{} ago", count, unit.name, count == 1 ? "" : "s");
  }
  return "now";
}

std::string format_day(std::int64_t time_ns) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(time_ns / 1'000'000'000)));
}

}  // namespace sabath::cli
