// Keys that several verbs read from their requests, with bounds. Any thread. Throws Error{usage}.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "sabath/environment.h"

namespace sabath {

[[nodiscard]] std::optional<std::chrono::seconds> try_seconds(JsonObject& object, std::string_view key);
[[nodiscard]] unsigned threads_of(JsonObject& object);  // "threads"; absent: 0, one a core

// "environment": an object of texts; absent: that of this process.
[[nodiscard]] Environment environment_in(JsonObject& object);

// A whole number in decimal; bytes, "10M" or "2.5GiB". `what` names it for people.
[[nodiscard]] std::uint64_t parse_count(const std::string& text, std::uint64_t maximum, const std::string& what);
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text, const std::string& what);
[[nodiscard]] double parse_number(const std::string& text, const std::string& what);
[[nodiscard]] std::chrono::seconds parse_span(const std::string& text, const std::string& what);  // "30d", "12h", "90m"

// Throws Error{usage} if `text` is none of `words`; `what` names it for people.
void check_word(const std::string& text, const std::vector<std::string>& words, std::string_view what);
void check_threads(unsigned threads);
// `what` names the span for people.
void check_span(const std::optional<std::chrono::seconds>& span, std::string_view what);

}  // namespace sabath
