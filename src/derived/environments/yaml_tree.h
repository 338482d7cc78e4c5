// A YAML document as a tree of plain values, so that JsonObject takes its keys strictly: lock files and
// environment.yml. Every scalar is a text, an empty or "null" plain one is null. Anchors, aliases, tags and second
// documents are refused, so nothing grows or becomes an object. Pure; any thread. Throws Error{invalid} as "file:line:
// what is wrong".
#pragma once

#include <string_view>

#include "base/json_reader.h"

namespace sabath {

[[nodiscard]] JsonValue parse_yaml_tree(std::string_view text, std::string_view origin, const JsonLimits& limits = {});

}  // namespace sabath
