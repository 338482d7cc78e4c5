#include "cli/show/age.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <ctime>

namespace sabath::cli {
namespace {

struct Unit {
  std::int64_t seconds;
  const char* name;
};
constexpr std::array<Unit, 4> units{{{86'400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}}};

}  // namespace

std::string format_span(std::chrono::seconds span) {
  for (const Unit& unit : units)
    if (span.count() % unit.seconds == 0) return fmt::format("{}{}", span.count() / unit.seconds, unit.name[0]);
  return "";
}

std::string format_ago(std::int64_t then_ns, std::int64_t now_ns) {
  const std::int64_t seconds = (now_ns - then_ns) / 1'000'000'000;
  for (const Unit& unit : units) {
    const std::int64_t count = seconds / unit.seconds;
    if (count > 0) return fmt::format("{} {}{} ago", count, unit.name, count == 1 ? "" : "s");
  }
  return "now";
}

std::string format_day(std::int64_t time_ns) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(time_ns / 1'000'000'000)));
}

}  // namespace sabath::cli
