#include "fields/json_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace sabath {

std::string text_of(const Json& record) { return record.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

std::optional<std::int64_t> seconds_until(std::int64_t until_ns) {
  if (until_ns == 0 || until_ns == INT64_MAX) return std::nullopt;
  return until_ns / 1'000'000'000;
}

Json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  constexpr double exact_max = 9007199254740992.0;
  if (std::trunc(value) == value && std::abs(value) < exact_max) return static_cast<std::int64_t>(value);
  return value;
}

Json value_or_null(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json failure_json(const Failure& failure) {
  return {{"kind", name(failure.kind)}, {"message", failure.message}, {"hint", text_or_null(failure.hint)}};
}

Json failure_record(const Failure& failure, int exit) {
  return {{"schema", 1}, {"error", failure_json(failure)}, {"exit", exit}};
}

}  // namespace sabath
