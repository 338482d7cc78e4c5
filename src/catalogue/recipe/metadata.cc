#include "recipe/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "base/text.h"
#include "recipe/fields.h"
#include "recipe/run_sets.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t listed_max = 1000;  // of a list or an object
constexpr std::size_t line_max = 4096;    // bytes
constexpr std::size_t axes_max = 32;      // HDF5's own bound

// Of DataCite's metadata schema 4.6.
constexpr std::string_view relations[] = {
    "IsCitedBy",     "Cites",           "IsSupplementTo", "IsSupplementedBy",    "IsContinuedBy",
    "Continues",     "IsDescribedBy",   "Describes",      "HasMetadata",         "IsMetadataFor",
    "HasVersion",    "IsVersionOf",     "IsNewVersionOf", "IsPreviousVersionOf", "IsPartOf",
    "HasPart",       "IsPublishedIn",   "IsReferencedBy", "References",          "IsDocumentedBy",
    "Documents",     "IsCompiledBy",    "Compiles",       "IsVariantFormOf",     "IsOriginalFormOf",
    "IsIdenticalTo", "IsReviewedBy",    "Reviews",        "IsDerivedFrom",       "IsSourceOf",
    "IsRequiredBy",  "Requires",        "IsObsoletedBy",  "Obsoletes",           "IsCollectedBy",
    "Collects",      "IsTranslationOf", "HasTranslation"};

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string short_line(JsonObject& object, std::string_view key) {
  std::string line = take_line(object, key);
  if (line.size() > line_max) object.fail(key, fmt::format("has more than {} bytes", line_max));
  return line;
}

std::vector<std::string> short_lines(JsonObject& object, std::string_view key) {
  std::vector<std::string> lines = take_lines(object, key);
  if (lines.size() > listed_max) object.fail(key, fmt::format("has more than {} entries", listed_max));
  for (const std::string& line : lines) {
    if (line.size() > line_max) object.fail(key, fmt::format("has an entry of more than {} bytes", line_max));
  }
  return lines;
}

const JsonValue::Array& short_array(JsonObject& object, std::string_view key) {
  static const JsonValue::Array none;
  const JsonValue::Array* array = object.try_array(key);
  if (array == nullptr) return none;
  if (array->size() > listed_max) object.fail(key, fmt::format("has more than {} entries", listed_max));
  return *array;
}

std::map<std::string, std::string> short_facts(JsonObject& object, std::string_view key) {
  std::map<std::string, std::string> facts = take_facts(object, key);
  if (facts.size() > listed_max) object.fail(key, fmt::format("has more than {} entries", listed_max));
  for (const auto& [name, value] : facts) {
    if (value.size() > line_max)
      object.fail(key, fmt::format("has a value of more than {} bytes, that of \"{}\"", line_max, name));
  }
  return facts;
}

std::string take_uri(JsonObject& object, std::string_view key) {
  std::string text = short_line(object, key);
  if (!text.empty() && !is_uri(text))
    object.fail(key, fmt::format("\"{}\" is no URI", printable(text)),
                "write an identifier that stays, such as https://doi.org/10.1234/abc or urn:uuid:...");
  return text;
}

void check_reference(const JsonObject& object, std::string_view key, const std::string& text) {
  if (is_uri(text) || is_name(text)) return;
  object.fail(key, fmt::format("\"{}\" is neither a URI nor the name of a recipe", printable(text)));
}

std::vector<std::string> take_references(JsonObject& object, std::string_view key) {
  std::vector<std::string> all = short_lines(object, key);
  for (const std::string& each : all) check_reference(object, key, each);
  return all;
}

Party read_party(JsonObject object) {
  Party party;
  (void)object.require("name");
  party.name = short_line(object, "name");
  const std::string type = short_line(object, "type");
  if (!type.empty() && type != "person" && type != "organization")
    object.fail("type", fmt::format("is \"{}\", but must be \"person\" or \"organization\"", printable(type)));
  party.organization = type == "organization";
  party.orcid = short_line(object, "orcid");
  if (!party.orcid.empty() && !is_orcid(party.orcid))
    object.fail("orcid", fmt::format("\"{}\" is no ORCID", printable(party.orcid)),
                "four groups of four digits; the last of them is a check digit");
  if (!party.orcid.empty() && party.organization) object.fail("orcid", "is only for persons");
  party.affiliation = short_line(object, "affiliation");
  object.finish();
  return party;
}

std::vector<Party> take_creators(JsonObject& object) {
  std::vector<Party> creators;
  for (const JsonValue& value : short_array(object, "creators"))
    creators.push_back(read_party({value, object.origin(), "a creator"}));
  return creators;
}

std::vector<RelatedAsset> take_related(JsonObject& object) {
  std::vector<RelatedAsset> all;
  for (const JsonValue& value : short_array(object, "related")) {
    JsonObject inner(value, object.origin(), "a related asset");
    RelatedAsset related{inner.text("relation"), inner.text("target")};
    if (!is_relation(related.relation)) {
      const std::vector<std::string> known(std::begin(relations), std::end(relations));
      const auto near = nearest(related.relation, known);
      inner.fail("relation",
                 fmt::format("\"{}\" is no relation{}", printable(related.relation),
                             near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""),
                 "take one of DataCite's relationType, such as \"IsDerivedFrom\" or \"IsDocumentedBy\"");
    }
    check_reference(inner, "target", related.target);
    inner.finish();
    all.push_back(std::move(related));
  }
  return all;
}

std::optional<std::vector<std::optional<std::uint64_t>>> take_shape(JsonObject& object) {
  const JsonValue::Array* array = object.try_array("shape");
  if (array == nullptr) return std::nullopt;
  if (array->size() > axes_max) object.fail("shape", fmt::format("has more than {} axes", axes_max));
  std::vector<std::optional<std::uint64_t>> shape;
  for (const JsonValue& axis : *array) {
    const auto* length = axis.get<std::uint64_t>();
    if (length == nullptr && !axis.is_null())
      object.fail("shape", "must hold lengths, and null for an axis whose length varies");
    shape.push_back(length == nullptr ? std::optional<std::uint64_t>() : *length);
  }
  return shape;
}

FormatFacts take_format(JsonObject& object) {
  FormatFacts facts;
  auto inner = object.try_object("format", "\"format\"");
  if (!inner) return facts;
  facts.names = short_lines(*inner, "names");
  facts.media_types = short_lines(*inner, "media_types");
  for (const std::string& type : facts.media_types) {
    const std::size_t slash = type.find('/');
    const auto allowed = [](char c) {
      return letter(c) || digit(c) || std::string_view("/.+-_!#$&^").find(c) != std::string_view::npos;
    };
    if (slash == 0 || slash == std::string::npos || slash + 1 == type.size() ||
        type.find('/', slash + 1) != type.npos || !std::ranges::all_of(type, allowed))
      inner->fail("media_types", fmt::format("\"{}\" is no media type", printable(type)), "such as \"text/csv\"");
  }
  facts.conforms_to = short_lines(*inner, "conforms_to");
  for (const std::string& uri : facts.conforms_to)
    if (!is_uri(uri)) inner->fail("conforms_to", fmt::format("\"{}\" is no URI", printable(uri)));
  for (const JsonValue& value : short_array(*inner, "variables")) {
    JsonObject one(value, object.origin(), "a variable");
    Variable variable;
    (void)one.require("name");
    variable.name = short_line(one, "name");
    variable.dtype = short_line(one, "dtype");
    variable.unit = short_line(one, "unit");
    variable.description = short_line(one, "description");
    variable.shape = take_shape(one);
    one.finish();
    facts.variables.push_back(std::move(variable));
  }
  inner->finish();
  return facts;
}

ModelFacts take_model(JsonObject& object, AssetKind kind) {
  ModelFacts facts;
  auto inner = object.try_object("model", "\"model\"");
  if (!inner) return facts;
  if (kind != AssetKind::model) object.fail("model", "is only for models");
  facts.format = short_line(*inner, "format");
  facts.framework = short_line(*inner, "framework");
  facts.type = short_line(*inner, "type");
  if (inner->find("tunable") != nullptr) facts.tunable = inner->flag("tunable");
  facts.hyper_parameters = short_facts(*inner, "hyper_parameters");
  facts.metrics = short_lines(*inner, "metrics");
  facts.accelerators = short_lines(*inner, "accelerators");
  inner->finish();
  return facts;
}

ExperimentFacts take_experiment(JsonObject& object, AssetKind kind) {
  ExperimentFacts facts;
  auto inner = object.try_object("experiment", "\"experiment\"");
  if (!inner) return facts;
  if (kind != AssetKind::workflow) object.fail("experiment", "is only for workflows");
  facts.workflow = short_line(*inner, "workflow");
  if (!facts.workflow.empty()) check_reference(*inner, "workflow", facts.workflow);
  facts.software = short_lines(*inner, "software");
  facts.hardware = short_lines(*inner, "hardware");
  facts.system = short_facts(*inner, "system");
  facts.datasets = take_references(*inner, "datasets");
  facts.models = take_references(*inner, "models");
  inner->finish();
  return facts;
}

// A key of "unknown" or "read_from": a key of the recipe, and after a dot what of it is meant.
std::string top_of(std::string_view key) { return std::string(key.substr(0, key.find('.'))); }

std::map<std::string, std::string> take_unknown(JsonObject& object) {
  std::map<std::string, std::string> reasons = short_facts(object, "unknown");
  for (const auto& [key, reason] : reasons) {
    for (const JsonMember& member : object.members()) {
      if (member.key != key || member.value.is_null()) continue;
      object.fail("unknown", fmt::format("says that \"{}\" is not known, but line {} states it", key, member.line));
    }
  }
  return reasons;
}

std::map<std::string, std::vector<std::string>> take_read_from(JsonObject& object) {
  std::map<std::string, std::vector<std::string>> pages;
  auto inner = object.try_object("read_from", "\"read_from\"");
  if (!inner) return pages;
  if (inner->members().size() > listed_max)
    object.fail("read_from", fmt::format("has more than {} entries", listed_max));
  for (const JsonMember& member : inner->members()) {
    if (!is_name(member.key)) throw_at(object.origin(), member.line, "a key of \"read_from\" must be a name");
    if (std::ranges::none_of(object.members(), [&](const auto& each) { return each.key == top_of(member.key); }))
      throw_at(object.origin(), member.line,
               fmt::format("\"read_from\" speaks of \"{}\", which the recipe does not have", member.key));
    const auto* list = member.value.get<JsonValue::Array>();
    if (list != nullptr && list->size() > listed_max)
      throw_at(object.origin(), member.line, fmt::format("\"read_from\" has more than {} pages", listed_max));
    for (const JsonValue& value : list != nullptr ? std::span(*list) : std::span(&member.value, 1)) {
      const Url url = parse_url_at(value, object.origin());
      if (url.scheme() != "https" && url.scheme() != "http")
        throw_at(object.origin(), value.line, "a page of \"read_from\" must have an https or http URL");
      pages[member.key].push_back(url.text());
    }
  }
  return pages;
}

}  // namespace

bool is_orcid(std::string_view text) {
  if (text.size() != 19) return false;
  unsigned total = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 5 == 4) {
      if (text[i] != '-') return false;
    } else if (i == 18) {
      const unsigned check = (12 - total % 11) % 11;
      return text[i] == (check == 10 ? 'X' : static_cast<char>('0' + check));
    } else {
      if (!digit(text[i])) return false;
      total = (total + static_cast<unsigned>(text[i] - '0')) * 2;
    }
  }
  return false;
}

bool is_doi(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (!text.starts_with("10.") || slash == text.npos || slash < 7 || slash > 12 || text.size() > 256) return false;
  const std::string_view suffix = text.substr(slash + 1);
  return std::ranges::all_of(text.substr(3, slash - 3), [](char c) { return digit(c) || c == '.'; }) &&
         !suffix.empty() && std::ranges::all_of(suffix, [](char c) {
           return c > ' ' && c < 0x7f && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
         });
}

bool is_date(std::string_view text) {
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((i == 4 || i == 7) ? text[i] != '-' : !digit(text[i])) return false;
  const auto number = [&](std::size_t at, std::size_t length) {
    unsigned value = 0;
    for (const char c : text.substr(at, length)) value = value * 10 + static_cast<unsigned>(c - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(number(0, 4))),
                                         std::chrono::month(text.size() > 4 ? number(5, 2) : 1),
                                         std::chrono::day(text.size() > 7 ? number(8, 2) : 1)};
  return number(0, 4) > 0 && date.ok();
}

bool is_uri(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon < 2 || colon + 1 == text.size() || text.size() > 2048 || !letter(text[0]))
    return false;
  const auto in_scheme = [](char c) { return letter(c) || digit(c) || c == '+' || c == '-' || c == '.'; };
  return std::ranges::all_of(text.substr(0, colon), in_scheme) &&
         std::ranges::all_of(text.substr(colon + 1), [](char c) {
           return letter(c) || digit(c) ||
                  std::string_view("-._~:/?#[]@!$&'()*+,;=%").find(c) != std::string_view::npos;
         });
}

bool is_relation(std::string_view text) { return std::ranges::find(relations, text) != std::end(relations); }

std::shared_ptr<const Metadata> take_metadata(JsonObject& object, AssetKind kind) {
  Metadata data;
  data.id = take_uri(object, "id");
  data.doi = to_lower(short_line(object, "doi"));
  if (!data.doi.empty() && !is_doi(data.doi))
    object.fail("doi", fmt::format("\"{}\" is no DOI", printable(data.doi)),
                "write it as 10.1234/abc, without https://doi.org/");
  data.published = short_line(object, "published");
  if (!data.published.empty() && !is_date(data.published))
    object.fail("published", fmt::format("\"{}\" is no date", printable(data.published)),
                "write YYYY, YYYY-MM or YYYY-MM-DD");
  data.creators = take_creators(object);
  if (auto submitter = object.try_object("submitter", "\"submitter\""))
    data.submitter = read_party(std::move(*submitter));
  data.tags = short_facts(object, "tags");
  data.keywords = short_lines(object, "keywords");
  data.related = take_related(object);
  data.format = take_format(object);
  data.model = take_model(object, kind);
  data.experiment = take_experiment(object, kind);
  data.unknown = take_unknown(object);
  data.read_from = take_read_from(object);
  constexpr std::string_view keys[] = {"id",         "doi",      "published", "creators", "submitter",
                                       "tags",       "keywords", "related",   "format",   "model",
                                       "experiment", "unknown",  "read_from"};
  const bool any = std::ranges::any_of(
      object.members(), [&](const auto& member) { return std::ranges::find(keys, member.key) != std::end(keys); });
  return any ? std::make_shared<const Metadata>(std::move(data)) : nullptr;
}

std::string_view Party::family() const {
  const std::size_t comma = organization ? name.npos : name.find(", ");
  return comma == name.npos ? std::string_view() : std::string_view(name).substr(0, comma);
}

std::string_view Party::given() const {
  const std::string_view first = family();
  return first.empty() ? first : std::string_view(name).substr(first.size() + 2);
}

std::string Party::shown() const { return family().empty() ? name : fmt::format("{} {}", given(), family()); }

bool ModelFacts::empty() const {
  return format.empty() && framework.empty() && type.empty() && !tunable && hyper_parameters.empty() &&
         metrics.empty() && accelerators.empty();
}

bool ExperimentFacts::empty() const {
  return workflow.empty() && software.empty() && hardware.empty() && system.empty() && datasets.empty() &&
         models.empty();
}

const Metadata& metadata_of(const Recipe& recipe) {
  static const Metadata none;
  return recipe.about ? *recipe.about : none;
}

}  // namespace sabath
