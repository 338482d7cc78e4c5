#include "recipe/enclosed.h"

#include <nlohmann/json.hpp>

#include <string>

#include "base/hash.h"
#include "recipe/croissant.h"
#include "recipe/parse.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *recipe_key = "sabath:recipe", *sum_key = "sabath:sum";

// Of the values, in any order and layout.
std::string sum_of(const Json& document) {
  nlohmann::json sorted = nlohmann::json::parse(document.dump(-1, ' ', false, Json::error_handler_t::replace));
  sorted.erase(sum_key);
  return sha256(sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)).prefixed();
}

}  // namespace

void enclose_recipe(Json& document, const Recipe& recipe) {
  document[recipe_key] = text_of_recipe(recipe);
  document[sum_key] = sum_of(document);
}

std::optional<DocumentRecipe> try_read_enclosed(std::string_view text, const DocumentPlace& place) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains(recipe_key) || !document.contains(sum_key)) return std::nullopt;
  if (!document[recipe_key].is_string() || document[sum_key] != Json(sum_of(document))) return std::nullopt;
  DocumentRecipe read;
  read.standard = "SABATH's JSON-LD";
  const Recipe said = parse_recipe(document[recipe_key].get<std::string>(), place.origin, AssetKind::dataset);
  read.recipe = parse_recipe(text_of_recipe(said), place.origin, said.kind);  // without what a document may not bring
  if (place.url) {
    if (said.manifest)
      for (const Url& url : said.manifest->urls) static_cast<void>(url_in_document(url.text(), place, 1));
    for (const Fragment& fragment : read.recipe.fragments)
      for (const Url& url : fragment.urls) static_cast<void>(url_in_document(url.text(), place, 1));
    if (read.recipe.git) static_cast<void>(url_in_document(read.recipe.git->origin, place, 1));
  }
  return read;
}

}  // namespace sabath
