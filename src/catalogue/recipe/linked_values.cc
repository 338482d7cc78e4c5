#include "recipe/linked_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/percent.h"
#include "base/text.h"
#include "recipe/metadata.h"
#include "recipe/parse.h"

namespace sabath {
namespace {

constexpr std::string_view vocabularies[] = {
    "", "sc:", "cr:", "dct:", "schema:", "dcterms:", "https://schema.org/", "http://schema.org/"};
constexpr std::size_t line_bytes_max = 4096, text_bytes_max = 64 * 1024;

struct SaidText {
  std::string_view language;  // empty: none is named
  const std::string* text;
};

// A tag of BCP 47 with a code of ISO 639: "en", "pt-BR".
bool is_language(std::string_view tag) {
  const std::string_view code = tag.substr(0, tag.find('-'));
  return (code.size() == 2 || code.size() == 3) &&
         std::ranges::all_of(code, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

void add_said(const JsonValue& value, std::string_view language, std::vector<SaidText>& said) {
  if (const auto* text = value.get<std::string>()) said.push_back({language, text});
}

// A plain text, {"@language": "en", "@value": ...}, or a map of languages.
void add_said(const JsonValue& value, std::vector<SaidText>& said) {
  add_said(value, "", said);
  const auto* object = value.get<JsonValue::Object>();
  if (object == nullptr) return;
  if (const JsonValue* text = member_of(value, "@value")) {
    const JsonValue* language = member_of(value, "@language");
    const std::string* tag = language == nullptr ? nullptr : language->get<std::string>();
    return add_said(*text, tag == nullptr ? std::string_view() : *tag, said);
  }
  const auto names_language = [](const JsonMember& each) { return each.key == "@none" || is_language(each.key); };
  if (!std::ranges::all_of(*object, names_language)) return;
  for (const JsonMember& each : *object) {
    const std::string_view language = each.key == "@none" ? std::string_view() : each.key;
    for (const JsonValue* one : each_of(&each.value)) add_said(*one, language, said);
  }
}

// The texts of a value; of those in languages the English ones, else those of the first language.
std::vector<const std::string*> texts_in(const JsonValue* value) {
  std::vector<SaidText> said;
  for (const JsonValue* each : each_of(value)) add_said(*each, said);
  const auto english = [](std::string_view tag) { return to_lower(tag.substr(0, tag.find('-'))) == "en"; };
  std::string_view chosen;
  for (const SaidText& each : said) {
    const bool better = each.language == "en" || (english(each.language) && !english(chosen));
    if (chosen.empty() || better) chosen = each.language;
  }
  std::vector<const std::string*> texts;
  for (const SaidText& each : said)
    if (each.language.empty() || each.language == chosen) texts.push_back(each.text);
  return texts;
}

}  // namespace

bool means_key(std::string_view written, std::string_view key) {
  return written.ends_with(key) &&
         std::ranges::find(vocabularies, written.substr(0, written.size() - key.size())) != std::end(vocabularies);
}

const JsonValue* member_of(const JsonValue& value, std::string_view key) {
  const auto* object = value.get<JsonValue::Object>();
  if (object == nullptr) return nullptr;
  for (const std::string_view prefix : vocabularies) {
    for (const JsonMember& each : *object) {
      const bool named = each.key.size() == prefix.size() + key.size() && each.key.starts_with(prefix);
      if (named && each.key.ends_with(key) && !each.value.is_null()) return &each.value;
    }
  }
  return nullptr;
}

std::string text_of_member(const JsonValue& value, std::string_view key) {
  const auto texts = texts_in(member_of(value, key));
  return texts.size() == 1 ? *texts.front() : "";
}

std::vector<const JsonValue*> each_of(const JsonValue* value) {
  std::vector<const JsonValue*> all;
  if (value == nullptr) return all;
  if (const auto* array = value->get<JsonValue::Array>()) {
    for (const JsonValue& one : *array) all.push_back(&one);
  } else {
    all.push_back(value);
  }
  return all;
}

std::vector<std::string> texts_of_member(const JsonValue& value, std::string_view key) {
  std::vector<std::string> texts;
  for (const std::string* text : texts_in(member_of(value, key))) texts.push_back(*text);
  return texts;
}

bool has_type(const JsonValue& value, std::string_view name) {
  for (const std::string& type : texts_of_member(value, "@type")) {
    const std::size_t end = type.find_last_of(":/#");
    if (type.substr(end == type.npos ? 0 : end + 1) == name) return true;
  }
  return false;
}

std::string name_out_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const std::string_view one(&c, 1);
    const bool fits = is_name(name.empty() ? one : "a" + std::string(one));
    if (fits) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() == 120) break;
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string clean_text(std::string text, bool lines) {
  std::erase_if(text, [&](char c) { return (c >= 0 && c < ' ' && !(lines && c == '\n')) || c == 0x7f; });
  const std::size_t bytes_max = lines ? text_bytes_max : line_bytes_max;
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a character
  text.resize(end);
  return text;
}

std::string licence_out_of(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> pages[] = {
      {"creativecommons.org/licenses/by/4.0", "CC-BY-4.0"},
      {"creativecommons.org/licenses/by-sa/4.0", "CC-BY-SA-4.0"},
      {"creativecommons.org/licenses/by-nc/4.0", "CC-BY-NC-4.0"},
      {"creativecommons.org/publicdomain/zero/1.0", "CC0-1.0"},
      {"opensource.org/licenses/MIT", "MIT"},
      {"opensource.org/license/mit", "MIT"},
      {"apache.org/licenses/LICENSE-2.0", "Apache-2.0"}};
  constexpr std::string_view known[] = {"MIT",          "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause",
                                        "CC-BY-4.0",    "CC0-1.0",    "CC-BY-SA-4.0", "CC-BY-NC-4.0",
                                        "GPL-3.0-only", "ODC-By-1.0", "ODbL-1.0",     "PDDL-1.0"};
  for (const auto& [page, licence] : pages)
    if (text.find(page) != text.npos) return std::string(licence);
  if (const std::size_t at = text.find("spdx.org/licenses/"); at != text.npos) text = text.substr(at + 18);
  for (const std::string_view ending : {".html", ".json", "/"})
    if (text.ends_with(ending)) text.resize(text.size() - ending.size());
  for (const std::string_view licence : known)
    if (to_lower(text) == to_lower(licence)) return std::string(licence);
  return is_name(text) ? text : "";
}

std::string doi_out_of(std::string_view text) {
  std::string whole = to_lower(trim(text));
  for (const std::string_view before : {"https://doi.org/", "http://doi.org/", "https://dx.doi.org/",
                                        "http://dx.doi.org/", "https://www.doi.org/", "doi:"}) {
    if (!whole.starts_with(before)) continue;
    whole = percent_decode(whole.substr(before.size()));
    break;
  }
  return is_doi(whole) ? whole : "";
}

Party party_out_of(const JsonValue& value) {
  Party party;
  const std::string given = text_of_member(value, "givenName"), family = text_of_member(value, "familyName");
  const std::string* plain = value.get<std::string>();
  party.name = plain != nullptr                  ? *plain
               : given.empty() || family.empty() ? text_of_member(value, "name")
                                                 : fmt::format("{}, {}", family, given);
  party.name = clean_text(party.name, false);
  party.organization = has_type(value, "Organization");
  for (const std::string_view key : {"@id", "identifier", "sameAs"}) {
    const std::string id = text_of_member(value, key);
    const std::size_t at = id.find("orcid.org/");
    if (at != id.npos && is_orcid(id.substr(at + 10)) && !party.organization) party.orcid = id.substr(at + 10);
  }
  const JsonValue* affiliation = member_of(value, "affiliation");
  if (affiliation != nullptr) {
    const std::string* text = affiliation->get<std::string>();
    party.affiliation = clean_text(text != nullptr ? *text : text_of_member(*affiliation, "name"), false);
  }
  return party;
}

}  // namespace sabath
