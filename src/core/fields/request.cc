#include "fields/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr unsigned worker_threads_max = 1024;
constexpr std::chrono::seconds span_max = std::chrono::hours(24) * 366 * 100;

}  // namespace

std::optional<std::chrono::seconds> try_seconds(JsonObject& object, std::string_view key) {
  const auto count = object.try_uint(key);
  if (!count) return std::nullopt;
  if (*count > static_cast<std::uint64_t>(span_max.count())) object.fail(key, "is more than 100 years");
  return std::chrono::seconds(static_cast<std::int64_t>(*count));
}

unsigned threads_of(JsonObject& object) {
  constexpr std::uint64_t most = std::numeric_limits<unsigned>::max();
  return static_cast<unsigned>(std::min(object.try_uint("threads").value_or(0), most));
}

Environment environment_in(JsonObject& object) {
  Environment environment = Environment::of_process();
  const auto given = object.try_object("environment", "an environment");
  if (!given) return environment;
  environment.variables.clear();
  for (const JsonMember& member : given->members()) {
    const auto* text = member.value.get<std::string>();
    if (text == nullptr) given->fail(member.key, "is no text");
    if (member.key.empty() || member.key.find_first_of(std::string_view("=\0", 2)) != member.key.npos ||
        text->find('\0') != text->npos)
      given->fail(member.key, "is no variable that a program can be given");
    environment.variables[member.key] = *text;
  }
  environment.home = environment.get("HOME").value_or("");
  environment.user = environment.get("USER").value_or("");
  return environment;
}

std::uint64_t parse_count(const std::string& text, std::uint64_t maximum, const std::string& what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > maximum) {
    throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", what, printable(text)),
                fmt::format("give a whole number from 0 to {}", maximum));
  }
  return value;
}

std::uint64_t parse_bytes(const std::string& text, const std::string& what) {
  if (const auto bytes = parse_size(text)) return *bytes;
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", what, printable(text)),
              "give bytes such as 500k, 10M or 2.5GiB");
}

double parse_number(const std::string& text, const std::string& what) {
  if (const auto number = try_number(text)) return *number;
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", what, printable(text)),
              "give a number such as 0.01");
}

std::chrono::seconds parse_span(const std::string& text, const std::string& what) {
  constexpr std::pair<char, std::int64_t> units[] = {{'w', 604'800}, {'d', 86'400}, {'h', 3600}, {'m', 60}, {'s', 1}};
  std::int64_t count = -1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, count);
  for (const auto& [letter, seconds] : units) {
    const bool ours = error == std::errc() && end + 1 == last && *end == letter;
    if (ours && count >= 0 && count <= span_max.count() / seconds) return std::chrono::seconds(count * seconds);
  }
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", what, printable(text)),
              "give a span of time such as 30d, 12h, 90m or 45s");
}

void check_word(const std::string& text, const std::vector<std::string>& words, std::string_view what) {
  if (std::ranges::find(words, text) != words.end()) return;
  const auto meant = nearest(text, words);
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", what, printable(text)),
              meant ? fmt::format("did you mean {}?", *meant) : fmt::format("give one of {}", fmt::join(words, ", ")));
}

void check_threads(unsigned threads) {
  if (threads <= worker_threads_max) return;
  throw Error(FailureKind::usage, fmt::format("{} threads are too many", threads),
              fmt::format("ask for at most {}, or for 0: one a core", worker_threads_max));
}

void check_span(const std::optional<std::chrono::seconds>& span, std::string_view what) {
  if (!span || (span->count() >= 0 && *span <= span_max)) return;
  throw Error(FailureKind::usage, fmt::format("{} cannot be {} seconds", what, span->count()),
              "give a span of time from nothing to 100 years");
}

}  // namespace sabath
