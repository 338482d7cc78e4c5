// What several verbs read from their requests, and the bounds of it. Any thread. Throws Error{usage}.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/json_reader.h"
#include "sabath/environment.h"

namespace sabath {

[[nodiscard]] std::optional<std::chrono::seconds> try_seconds(JsonObject& object, std::string_view key);
[[nodiscard]] unsigned threads_of(JsonObject& object);  // "threads"; absent: 0, one a core

// "environment": an object of texts; absent: that of this process.
[[nodiscard]] Environment environment_in(JsonObject& object);

void check_threads(unsigned threads);
// `what` names the span for people.
void check_span(const std::optional<std::chrono::seconds>& span, std::string_view what);

}  // namespace sabath
