// Pieces of a record as JSON that has no table. Pure; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/error.h"

namespace sabath {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::string text_of(const Json& record);   // on one line; what is no UTF-8 is replaced
[[nodiscard]] Json text_or_null(std::string_view text);  // "" is null
// A whole number as such: 3, not 3.0; what JSON has no number for as "NaN", "Infinity" or "-Infinity".
[[nodiscard]] Json json_number(double value);
[[nodiscard]] Json value_or_null(const std::optional<std::uint64_t>& value);
// In seconds, of the end of other members' use in nanoseconds since 1970; nullopt: none is known.
[[nodiscard]] std::optional<std::int64_t> seconds_until(std::int64_t until_ns);
[[nodiscard]] Json failure_json(const Failure& failure);              // {"kind","message","hint"}
[[nodiscard]] Json failure_record(const Failure& failure, int exit);  // {"schema":1,"error":{...},"exit":N}

}  // namespace sabath
