#include "recipe/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "base/text.h"
#include "recipe/croissant.h"
#include "recipe/document_readers.h"
#include "recipe/enclosed.h"
#include "recipe/linked_values.h"
#include "recipe/naming.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr JsonLimits document_limits{recipe_size_max, recipe_depth_max, 1'000'000};
constexpr std::size_t page_scripts_max = 100;

std::optional<DocumentRecipe> try_read_json(const JsonValue& document, const DocumentPlace& place) {
  if (is_croissant(document)) return read_dataset(document, place);
  if (is_datacite(document)) return read_datacite(document, place);
  return std::nullopt;
}

// The first of a page's blocks that describes a dataset. What is no JSON in a page is the page's own matter.
std::optional<DocumentRecipe> try_read_page(std::string_view html, const DocumentPlace& place) {
  for (const std::string_view text : linked_data_of_page(html)) {
    std::optional<JsonValue> document;
    try {
      document = parse_json(text, place.origin, document_limits);
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::invalid) throw;
      continue;
    }
    if (auto read = try_read_json(*document, place)) return read;
  }
  return std::nullopt;
}

std::optional<DocumentRecipe> try_read(std::string_view text, const DocumentPlace& place) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string_view front = trim(text.substr(0, 4096));
  if (text.size() > recipe_size_max || front.empty()) return std::nullopt;
  if (front.front() == '<') return try_read_page(text, place);
  if (is_card(text)) return read_card(text, place);
  if (front.front() != '{' && front.front() != '[' && front.front() != '"') return std::nullopt;
  std::optional<JsonValue> document;
  try {
    document = parse_json(text, place.origin, document_limits);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid || !is_key_list(text)) throw;
    return read_key_list(parse_key_list(text, place.origin), place);
  }
  if (text.find("\"sabath:sum\"") != text.npos) {
    if (auto read = try_read_enclosed(text, place)) return read;
  }
  const bool is_paper = has_paper_keys(*document);
  if (is_paper && member_of(*document, "name") == nullptr) return read_key_list(*document, place);
  if (auto read = try_read_json(*document, place)) return read;
  if (is_paper) return read_key_list(*document, place);
  return std::nullopt;
}

bool matches_word(std::string_view text, std::size_t at, std::string_view word) {
  return to_lower(text.substr(at, word.size())) == word;
}

}  // namespace

std::vector<std::string_view> linked_data_of_page(std::string_view html) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; found.size() < page_scripts_max;) {
    at = html.find('<', at);
    if (at == html.npos) return found;
    if (html.substr(at).starts_with("<!--")) {
      at = std::min(html.find("-->", at), html.size());
      continue;
    }
    if (!matches_word(html, ++at, "script")) continue;
    const std::size_t open = html.find('>', at);
    if (open == html.npos) return found;
    std::size_t close = open + 1;
    while (close < html.size() && !(html[close] == '<' && matches_word(html, close, "</script"))) ++close;
    if (to_lower(html.substr(at, open - at)).find("application/ld+json") != html.npos)
      found.push_back(html.substr(open + 1, close - open - 1));
    at = close;
  }
  return found;
}

std::optional<DocumentRecipe> try_read_document(std::string_view text, const DocumentPlace& place) {
  auto read = try_read(text, place);
  if (!read || !place.url || !place.url->namer()) return read;
  const Namer& namer = *place.url->namer();
  if (namer.reach < Reach::host) read->recipe.reach = namer.reach;
  name_sources(read->recipe, namer);
  return read;
}

}  // namespace sabath
