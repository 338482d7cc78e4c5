#include "recipe/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "recipe/fields.h"

namespace sabath {

Recipe parse_recipe(std::string_view json, const std::string& origin, AssetKind kind) {
  const JsonValue document = parse_json(json, origin, {recipe_size_max, recipe_depth_max});
  const JsonValue* schema = nullptr;
  if (const auto* members = document.get<JsonValue::Object>()) {
    const auto found =
        std::find_if(members->begin(), members->end(), [](auto& member) { return member.key == "schema"; });
    if (found != members->end()) schema = &found->value;
  }
  if (schema == nullptr) return read_schema_0(document, origin, kind);
  const std::uint64_t* number = schema->get<std::uint64_t>();
  if (number != nullptr && *number == 0) return read_schema_0(document, origin, kind);
  if (number != nullptr && *number == 1) return read_schema_1(document, origin);
  throw_at(origin, schema->line, "\"schema\" must be 0 or 1", "a newer version of this program may know more");
}

}  // namespace sabath
