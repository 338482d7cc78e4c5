// TOML 1.0 as a tree of plain values, so that JsonObject takes its keys strictly: lock files that programs wrote.
// Every error with its line. Dates are texts; "inf" and "nan" are refused. Size, depth and values have bounds, and each
// key stands once. Pure; any thread. Throws Error{invalid} as "file:line: what is wrong".
#pragma once

#include <string_view>

#include "base/json_reader.h"

namespace sabath {

[[nodiscard]] JsonValue parse_toml(std::string_view text, std::string_view origin, const JsonLimits& limits = {});

}  // namespace sabath
