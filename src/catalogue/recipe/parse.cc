#include "recipe/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "base/text.h"
#include "recipe/document.h"
#include "recipe/fields.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// Without "schema" a recipe is read as one of the original's, which has none of these keys.
void refuse_forgotten_schema(const JsonValue& document, std::string_view origin) {
  const auto* members = document.get<JsonValue::Object>();
  if (members == nullptr) return;
  constexpr std::string_view newer[] = {"$schema",  "kind", "version", "title",    "licence", "access",
                                        "manifest", "id",   "doi",     "creators", "tags",    "keywords"};
  const std::string schema[] = {"schema"};
  for (const JsonMember& member : *members) {
    const bool misspelt = member.key != newer[0] && nearest(member.key, schema).has_value();
    if (!misspelt && std::ranges::find(newer, member.key) == std::end(newer)) continue;
    throw_at(origin, member.line,
             misspelt ? fmt::format("unknown key \"{}\" (did you mean \"schema\"?)", printable(member.key))
                      : fmt::format("\"{}\" is of schema 1, and the recipe does not say \"schema\": 1", member.key),
             "begin the recipe with \"schema\": 1; without it, it is read as a recipe of the original SABATH");
  }
}

// Whether it is worth while to read a text as a document of another standard first: recipes are many.
bool may_be_document(std::string_view text) {
  const std::string_view front = trim(text.substr(0, 256));
  if (front.starts_with('<') || front.starts_with("---") || front.starts_with('"')) return true;
  constexpr std::string_view marks[] = {"\"@context\"", "\"@graph\"", "\"hpc:", "\"titles\""};
  return std::ranges::any_of(marks, [&](std::string_view mark) { return text.find(mark) != text.npos; });
}

}  // namespace

Recipe parse_recipe(std::string_view json, const std::string& origin, AssetKind kind) {
  if (may_be_document(json)) {
    if (auto described = try_read_document(json, {origin, std::nullopt})) return std::move(described->recipe);
  }
  const JsonValue document = parse_json(json, origin, {recipe_size_max, recipe_depth_max});
  const JsonValue* schema = nullptr;
  if (const auto* members = document.get<JsonValue::Object>()) {
    const auto found =
        std::find_if(members->begin(), members->end(), [](auto& member) { return member.key == "schema"; });
    if (found != members->end()) schema = &found->value;
  }
  if (schema == nullptr) {
    refuse_forgotten_schema(document, origin);
    return read_schema_0(document, origin, kind);
  }
  const std::uint64_t* number = schema->get<std::uint64_t>();
  if (number != nullptr && *number == 0) return read_schema_0(document, origin, kind);
  if (number != nullptr && *number == 1) return read_schema_1(document, origin);
  throw_at(origin, schema->line, "\"schema\" must be 0 or 1", "a newer version of this program may know more");
}

}  // namespace sabath
