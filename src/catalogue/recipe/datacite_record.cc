// DataCite's JSON (metadata schema 4.0 to 4.6): https://schema.datacite.org, and the answers of its API.
#include <fmt/format.h>

#include <algorithm>

#include "base/percent.h"
#include "recipe/croissant.h"
#include "recipe/document_readers.h"
#include "recipe/fields.h"
#include "recipe/linked_values.h"
#include "recipe/metadata.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t listed_in_record_max = 1000, files_in_record_max = 10'000;
constexpr std::string_view record_keys[] = {
    "id",          "doi",      "url",           "titles",       "creators",     "publisher",  "publicationYear",
    "dates",       "subjects", "rightsList",    "descriptions", "version",      "contentUrl", "relatedIdentifiers",
    "identifiers", "types",    "schemaVersion", "formats",      "sizes",        "prefix",     "suffix",
    "language",    "state",    "attributes",    "type",         "relationships"};

const JsonValue& record_of(const JsonValue& document) {
  const JsonValue* node = &document;
  for (const char* key : {"data", "attributes"})
    if (const JsonValue* inner = member_of(*node, key); inner != nullptr && inner->get<JsonValue::Object>() != nullptr)
      node = inner;
  return *node;
}

// The texts of one key in a list of objects: {"titles": [{"title": "..."}]}.
std::vector<std::string> inner_texts(const JsonValue& record, std::string_view list, std::string_view key) {
  std::vector<std::string> all;
  for (const JsonValue* each : each_of(member_of(record, list)))
    if (std::string text = text_of_member(*each, key); !text.empty() && all.size() < listed_in_record_max)
      all.push_back(std::move(text));
  return all;
}

void read_people(const JsonValue& record, Metadata& data) {
  for (const JsonValue* each : each_of(member_of(record, "creators"))) {
    Party party = party_out_of(*each);
    party.organization = text_of_member(*each, "nameType") == "Organizational";
    if (party.organization) party.orcid.clear();
    for (const std::string& id : inner_texts(*each, "nameIdentifiers", "nameIdentifier")) {
      const std::string orcid = id.substr(id.size() - std::min<std::size_t>(id.size(), 19));
      if (is_orcid(orcid) && !party.organization) party.orcid = orcid;
    }
    const auto places = texts_of_member(*each, "affiliation");
    if (!places.empty()) party.affiliation = clean_text(places.front(), false);
    if (const auto named = inner_texts(*each, "affiliation", "name"); !named.empty())
      party.affiliation = clean_text(named.front(), false);
    if (!party.name.empty() && data.creators.size() < listed_in_record_max) data.creators.push_back(std::move(party));
  }
}

std::string published_of(const JsonValue& record) {
  for (const JsonValue* each : each_of(member_of(record, "dates"))) {
    const std::string date = text_of_member(*each, "date").substr(0, 10);
    if (text_of_member(*each, "dateType") == "Issued" && is_date(date)) return date;
  }
  const JsonValue* year = member_of(record, "publicationYear");
  const auto* number = year == nullptr ? nullptr : year->get<std::uint64_t>();
  const std::string text = number != nullptr ? fmt::to_string(*number) : text_of_member(record, "publicationYear");
  return is_date(text) ? text : "";
}

void read_related(const JsonValue& record, Metadata& data) {
  for (const JsonValue* each : each_of(member_of(record, "relatedIdentifiers"))) {
    RelatedAsset related{text_of_member(*each, "relationType"), text_of_member(*each, "relatedIdentifier")};
    if (const std::string doi = doi_out_of(related.target); !doi.empty()) related.target = "https://doi.org/" + doi;
    if (is_relation(related.relation) && is_uri(related.target) && data.related.size() < listed_in_record_max)
      data.related.push_back(std::move(related));
  }
}

void read_record_facts(const JsonValue& record, Recipe& recipe, Metadata& data) {
  const auto titles = inner_texts(record, "titles", "title");
  if (!titles.empty()) recipe.title = clean_text(titles.front(), false);
  if (const std::string version = text_of_member(record, "version"); is_name(version)) recipe.version = version;
  if (const auto url = Url::try_parse(text_of_member(record, "url"))) recipe.homepage = url->text();
  for (const std::string& text : inner_texts(record, "descriptions", "description"))
    if (recipe.description.empty()) recipe.description = clean_text(text, true);
  for (const char* key : {"rightsIdentifier", "rightsUri"})
    for (std::string& text : inner_texts(record, "rightsList", key))
      if (recipe.licence.empty()) recipe.licence = licence_out_of(std::move(text));
  for (const std::string& word : inner_texts(record, "subjects", "subject"))
    if (!clean_text(word, false).empty()) data.keywords.push_back(clean_text(word, false));
  data.published = published_of(record);
  read_people(record, data);
  read_related(record, data);
  for (const char* key : {"doi", "id"})
    if (data.doi.empty()) data.doi = doi_out_of(text_of_member(record, key));
  for (const std::string& text : inner_texts(record, "identifiers", "identifier"))
    if (data.doi.empty()) data.doi = doi_out_of(text);
  for (const JsonValue* each : each_of(member_of(record, "alternateIdentifiers"))) {
    const std::string text = text_of_member(*each, "alternateIdentifier");
    if (data.id.empty() && text_of_member(*each, "alternateIdentifierType") == "URI" && is_uri(text)) data.id = text;
  }
  if (!data.doi.empty() && data.id.empty()) data.id = "https://doi.org/" + data.doi;
}

void add_files(const JsonValue& record, const DocumentPlace& place, Recipe& recipe) {
  for (const JsonValue* each : each_of(member_of(record, "contentUrl"))) {
    const auto* text = each->get<std::string>();
    if (text == nullptr) continue;
    if (recipe.fragments.size() == files_in_record_max)
      throw_at(place.origin, each->line, fmt::format("the record has more than {} files", files_in_record_max));
    Fragment fragment;
    fragment.id = fmt::format("file-{}", recipe.fragments.size() + 1);
    fragment.urls.push_back(url_in_document(*text, place, each->line));
    const auto path = default_file_path(fragment);
    fragment.path = path ? RelativePath::parse(fragment.id) / *path : RelativePath::parse(fragment.id);
    recipe.fragments.push_back(std::move(fragment));
  }
}

DocumentRecipe read_it(const JsonValue& document, const DocumentPlace& place) {
  const JsonValue& record = record_of(document);
  DocumentRecipe out;
  Metadata data;
  out.standard = "DataCite";
  out.recipe.origin = place.origin;
  read_record_facts(record, out.recipe, data);
  for (const JsonMember& each : *record.get<JsonValue::Object>()) {
    if (std::ranges::find(record_keys, each.key) == std::end(record_keys) && out.passed_over.size() < 100)
      out.passed_over.push_back(
          fmt::format("{}:{}: {}", printable(place.origin, 1000), each.line, printable(each.key)));
  }
  out.recipe.name = name_out_of(out.recipe.title);
  if (out.recipe.name.empty()) out.recipe.name = name_out_of(data.doi);
  if (out.recipe.name.empty()) throw_at(place.origin, record.line, "the record has neither a title nor a DOI");
  add_files(record, place, out.recipe);
  if (out.recipe.fragments.size() == 1) out.recipe.fragments[0].path = default_file_path(out.recipe.fragments[0]);
  if (out.recipe.fragments.size() == 1 && !out.recipe.fragments[0].path)
    out.recipe.fragments[0].path = RelativePath::parse("file-1");
  if (out.recipe.fragments.empty() && !data.doi.empty()) {
    Fragment fragment;  // the repository of the DOI knows
    fragment.id = "all";
    fragment.type = FragmentType::file_list;
    fragment.urls.push_back(Url::parse("doi:" + percent_encode_path(data.doi)));
    out.recipe.fragments.push_back(std::move(fragment));
  }
  if (out.recipe.fragments.empty()) out.recipe.access = access_by_hand(out.recipe.homepage);
  out.recipe.about = std::make_shared<const Metadata>(std::move(data));
  return out;
}

}  // namespace

bool is_datacite(const JsonValue& document) {
  const JsonValue& record = record_of(document);
  if (record.get<JsonValue::Object>() == nullptr || inner_texts(record, "titles", "title").empty()) return false;
  return member_of(record, "creators") != nullptr || member_of(record, "doi") != nullptr;
}

DocumentRecipe read_datacite(const JsonValue& document, const DocumentPlace& place) {
  try {
    return read_it(document, place);
  } catch (const Error& error) {
    if (error.failure().message.starts_with(place.origin)) throw;
    throw_at(place.origin, document.line, error.failure().message, error.failure().hint);  // of a URL
  }
}

}  // namespace sabath
