// Cards of Hugging Face: https://huggingface.co/docs/hub/datasets-cards.
#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "base/percent.h"
#include "base/text.h"
#include "recipe/document_readers.h"
#include "recipe/linked_values.h"
#include "recipe/metadata.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t card_size_max = 1 << 20, card_values_max = 100'000, card_depth_max = 16, card_texts_max = 1000;
constexpr std::string_view used_card_keys[] = {"license", "license_name",    "license_link", "pretty_name",
                                               "tags",    "size_categories", "language",     "task_categories",
                                               "doi",     "library_name"};

struct CardKey {
  std::size_t line = 0;
  std::vector<std::string> texts;  // one scalar, or those of a list; of what is nested deeper: nothing
};
using CardKeys = std::map<std::string, CardKey, std::less<>>;

// The keys of the top. No alias is followed and no tag is obeyed, so nothing grows and nothing becomes an object.
class CardHead {
 public:
  CardHead(std::string_view text, const std::string& origin) : origin_(origin) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~CardHead() { yaml_parser_delete(&parser_); }
  CardHead(const CardHead&) = delete;
  CardHead& operator=(const CardHead&) = delete;

  CardKeys read() {
    CardKeys keys;
    Token token = next();
    while (token.type == YAML_STREAM_START_EVENT || token.type == YAML_DOCUMENT_START_EVENT) token = next();
    if (token.type != YAML_MAPPING_START_EVENT) throw_at(origin_, token.line, "the card's head has no keys");
    for (token = next(); token.type != YAML_MAPPING_END_EVENT; token = next()) {
      if (token.type != YAML_SCALAR_EVENT) throw_at(origin_, token.line, "a key of the card's head is no text");
      const auto [key, fresh] = keys.emplace(token.text, CardKey{token.line, {}});
      if (!fresh) throw_at(origin_, token.line, fmt::format("\"{}\" appears twice", printable(token.text)));
      read_value(&key->second.texts, 0);
    }
    return keys;
  }

 private:
  struct Token {
    yaml_event_type_t type = YAML_NO_EVENT;
    std::size_t line = 0;
    std::string text;
  };

  Token next() {
    if (ahead_.type != YAML_NO_EVENT) return std::exchange(ahead_, Token());
    yaml_event_t event;
    if (yaml_parser_parse(&parser_, &event) == 0) {
      if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
      throw_at(
          origin_, parser_.problem_mark.line + 2,
          fmt::format("the card's head is no YAML: {}", parser_.problem == nullptr ? "unreadable" : parser_.problem));
    }
    Token token{event.type, event.start_mark.line + 2, {}};  // the line "---" stands before
    if (event.type == YAML_SCALAR_EVENT)
      token.text.assign(reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length);
    yaml_event_delete(&event);
    if (++values_ > card_values_max) throw_at(origin_, token.line, "the card's head is too long");
    return token;
  }

  // NOLINTNEXTLINE(misc-no-recursion): card_depth_max bounds it
  void read_value(std::vector<std::string>* texts, std::size_t depth) {
    const Token token = next();
    if (depth > card_depth_max) throw_at(origin_, token.line, "the card's head is nested too deep");
    if (token.type == YAML_SCALAR_EVENT && texts != nullptr && texts->size() < card_texts_max)
      texts->push_back(clean_text(token.text, false));
    if (token.type == YAML_SEQUENCE_START_EVENT) {
      while (!at_end(YAML_SEQUENCE_END_EVENT)) read_value(depth == 0 ? texts : nullptr, depth + 1);
    } else if (token.type == YAML_MAPPING_START_EVENT) {
      while (!at_end(YAML_MAPPING_END_EVENT)) read_value(nullptr, depth + 1);
    }
  }

  // True: the end of what is open was there, and is passed.
  bool at_end(yaml_event_type_t end) {
    Token token = next();
    if (token.type == end) return true;
    ahead_ = std::move(token);
    return false;
  }

  const std::string& origin_;
  yaml_parser_t parser_;
  std::size_t values_ = 0;
  Token ahead_;
};

// What stands between the lines "---" and behind them; nullopt: there is no such head.
struct CardParts {
  std::string_view head, body;
};
std::optional<CardParts> try_part_card(std::string_view text) {
  const std::size_t first = text.find('\n');
  if (first == text.npos || trim(text.substr(0, first)) != "---") return std::nullopt;
  for (std::size_t at = first + 1; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (trim(text.substr(at, end - at)) == "---")
      return CardParts{text.substr(first + 1, at - first - 1), text.substr(std::min(end + 1, text.size()))};
    at = end + 1;
  }
  return std::nullopt;
}

// The first heading, and the first lines that are none, up to a blank one.
void read_card_body(std::string_view body, Recipe& recipe) {
  bool within_code = false;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = trim(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
    if (line.starts_with("```")) within_code = !within_code;
    const bool text = !line.empty() && std::string_view("#<![`|>-").find(line.front()) == line.npos && !within_code;
    if (line.starts_with("# ") && recipe.title.empty())
      recipe.title = clean_text(std::string(trim(line.substr(2))), false);
    if (text) recipe.description += (recipe.description.empty() ? "" : "\n") + std::string(line);
    if (!text && !recipe.description.empty()) break;
  }
  recipe.description = clean_text(recipe.description, true);
}

// "datasets/OWNER/NAME", "OWNER/NAME" of a model, out of .../raw/main/README.md or .../resolve/main/README.md.
std::string repository_of_card(const Url& url) {
  const std::string path = percent_decode(url.path());
  std::size_t end = path.find("/raw/");
  if (end == path.npos) end = path.find("/resolve/");
  if (end == path.npos) end = path.find("/blob/");
  if (end == path.npos || end < 2) return "";
  const std::string repository = path.substr(1, end - 1);
  return RelativePath::try_parse(repository) ? repository : "";
}

DocumentRecipe recipe_of_card(const CardKeys& keys, std::string_view body, const DocumentPlace& place) {
  DocumentRecipe out;
  Metadata data;
  out.standard = "a card";
  Recipe& recipe = out.recipe;
  recipe.origin = place.origin;
  const auto texts = [&](std::string_view key) {
    const auto found = keys.find(key);
    return found == keys.end() ? std::vector<std::string>() : found->second.texts;
  };
  for (const auto& [key, value] : keys) {
    if (std::ranges::find(used_card_keys, key) == std::end(used_card_keys) && out.passed_over.size() < 100)
      out.passed_over.push_back(fmt::format("{}:{}: {}", printable(place.origin, 1000), value.line, printable(key)));
  }
  if (const auto names = texts("pretty_name"); !names.empty()) recipe.title = names.front();
  read_card_body(body, recipe);
  for (const char* key : {"license", "license_name"})
    for (const std::string& text : texts(key))
      if (recipe.licence.empty() && text != "other" && text != "unknown") recipe.licence = licence_out_of(text);
  for (const char* key : {"tags", "task_categories"})
    for (const std::string& text : texts(key))
      if (data.keywords.size() < card_texts_max && !text.empty()) data.keywords.push_back(text);
  for (const char* key : {"language", "size_categories"})
    if (const auto values = texts(key); !values.empty()) data.tags[key] = values.front();
  for (const std::string& text : texts("doi"))
    if (data.doi.empty()) data.doi = doi_out_of(text);
  const std::string repository = place.url ? repository_of_card(*place.url) : "";
  recipe.kind = !repository.empty() && !repository.starts_with("datasets/") ? AssetKind::model : AssetKind::dataset;
  if (recipe.kind == AssetKind::model)
    for (const std::string& text : texts("library_name")) data.model.framework = text;
  recipe.name = name_out_of(repository.empty() ? recipe.title : repository.substr(repository.rfind('/') + 1));
  if (recipe.name.empty()) throw_at(place.origin, 1, "the card has no name of which a recipe's could be made");
  if (repository.empty()) {
    recipe.access = {AccessKind::restricted,
                     {"A card does not say which repository it is of: name its address, hf://datasets/OWNER/NAME."}};
  } else {
    Fragment fragment;
    fragment.id = "all";
    fragment.type = FragmentType::file_list;
    fragment.urls.push_back(Url::parse("hf://" + percent_encode_path(repository)));
    recipe.fragments.push_back(std::move(fragment));
    recipe.homepage = place.url->resolve("/" + percent_encode_path(repository)).text();
  }
  recipe.about = std::make_shared<const Metadata>(std::move(data));
  return out;
}

}  // namespace

bool is_card(std::string_view text) { return text.size() <= card_size_max && try_part_card(text).has_value(); }

DocumentRecipe read_card(std::string_view text, const DocumentPlace& place) {
  const CardParts parts = *try_part_card(text);
  return recipe_of_card(CardHead(parts.head, place.origin).read(), parts.body, place);
}

}  // namespace sabath
