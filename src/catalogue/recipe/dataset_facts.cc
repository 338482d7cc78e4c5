#include "recipe/dataset_facts.h"

#include "recipe/linked_values.h"
#include "recipe/metadata.h"
#include "recipe/parse.h"

namespace sabath {
namespace {

constexpr std::size_t listed_facts_max = 1000;

std::string last_part(const std::string& uri) {
  const std::size_t end = uri.find_last_of(":/#");
  return uri.substr(end == uri.npos ? 0 : end + 1);
}

void read_head(const JsonValue& document, std::string_view origin, Recipe& recipe, Metadata& data) {
  recipe.name = name_out_of(text_of_member(document, "name"));
  if (recipe.name.empty())
    throw_at(origin, document.line, "the document has no \"name\" of which a recipe's could be made");
  if (const std::string version = text_of_member(document, "version"); is_name(version)) recipe.version = version;
  recipe.title = clean_text(text_of_member(document, "name"), false);
  if (const std::string other = clean_text(text_of_member(document, "alternateName"), false); !other.empty())
    recipe.title = other;
  recipe.description = clean_text(text_of_member(document, "description"), true);
  if (const auto url = Url::try_parse(text_of_member(document, "url"))) recipe.homepage = url->text();
  for (const JsonValue* each : each_of(member_of(document, "license"))) {
    const auto* text = each->get<std::string>();
    std::string said = text != nullptr ? *text : text_of_member(*each, "url");
    if (said.empty()) said = text_of_member(*each, "@id");
    if (recipe.licence.empty()) recipe.licence = licence_out_of(std::move(said));
  }
  for (const char* key : {"citeAs", "citation"})
    for (const std::string& text : texts_of_member(document, key))
      if (recipe.citation.size() < listed_facts_max && !clean_text(text, true).empty())
        recipe.citation.push_back(clean_text(text, true));
  for (const char* key : {"creator", "author"}) {
    for (const JsonValue* each : each_of(data.creators.empty() ? member_of(document, key) : nullptr))
      if (Party party = party_out_of(*each); !party.name.empty() && data.creators.size() < listed_facts_max)
        data.creators.push_back(std::move(party));
  }
  if (const std::string date = text_of_member(document, "datePublished").substr(0, 10); is_date(date))
    data.published = date;
  for (const std::string& words : texts_of_member(document, "keywords")) {
    if (std::string clean = clean_text(words, false); !clean.empty() && data.keywords.size() < listed_facts_max)
      data.keywords.push_back(std::move(clean));
  }
}

void read_identifiers(const JsonValue& document, Metadata& data) {
  std::vector<std::string> all = texts_of_member(document, "identifier");
  for (const JsonValue* each : each_of(member_of(document, "identifier"))) {
    for (const char* key : {"value", "@id", "url"})
      if (std::string text = text_of_member(*each, key); !text.empty()) all.push_back(std::move(text));
  }
  const std::vector<std::string> said = all;
  for (const char* key : {"@id", "url", "sameAs"})
    for (std::string& text : texts_of_member(document, key)) all.push_back(std::move(text));
  for (const std::string& text : all)
    if (data.doi.empty()) data.doi = doi_out_of(text);
  if (const std::string id = text_of_member(document, "@id"); is_uri(id)) data.id = id;
  for (const std::string& text : said)  // of a node that is called by its place in the document
    if (data.id.empty() && is_uri(text) && !text.starts_with("sha256:") && doi_out_of(text).empty()) data.id = text;
}

void read_variables(const JsonValue& document, Metadata& data) {
  const auto add = [&](Variable variable) {
    if (!variable.name.empty() && data.format.variables.size() < listed_facts_max)
      data.format.variables.push_back(std::move(variable));
  };
  for (const JsonValue* each : each_of(member_of(document, "sabath:variable"))) {
    Variable variable{clean_text(text_of_member(*each, "sabath:name"), false),
                      clean_text(text_of_member(*each, "sabath:dtype"), false),
                      clean_text(text_of_member(*each, "sabath:unit"), false), "", std::nullopt};
    if (const JsonValue* shape = member_of(*each, "sabath:shape")) {
      variable.shape.emplace();
      for (const JsonValue* axis : each_of(member_of(*shape, "@list"))) {
        const auto* length = axis->get<std::uint64_t>();
        if (variable.shape->size() < 32)
          variable.shape->push_back(length == nullptr ? std::optional<std::uint64_t>() : *length);
      }
    }
    add(std::move(variable));
  }
  for (const JsonValue* each : each_of(member_of(document, "variableMeasured"))) {
    const auto* text = each->get<std::string>();
    add({clean_text(text != nullptr ? *text : text_of_member(*each, "name"), false), "",
         clean_text(text_of_member(*each, "unitText"), false), "", std::nullopt});
  }
  for (const JsonValue* set : each_of(member_of(document, "recordSet"))) {
    for (const JsonValue* field : each_of(member_of(*set, "field"))) {
      std::string name = text_of_member(*field, "@id");
      if (name.empty()) name = text_of_member(*field, "name");
      const auto types = texts_of_member(*field, "dataType");
      add({clean_text(name, false), types.empty() ? "" : clean_text(last_part(types.front()), false), "",
           clean_text(text_of_member(*field, "description"), false), std::nullopt});
    }
  }
}

}  // namespace

void read_dataset_facts(const JsonValue& document, std::string_view origin, Recipe& recipe, Metadata& data) {
  read_head(document, origin, recipe, data);
  read_identifiers(document, data);
  read_variables(document, data);
}

}  // namespace sabath
