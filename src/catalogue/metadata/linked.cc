#include "metadata/linked.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recipe/enclosed.h"
#include "recipe/metadata.h"

namespace sabath::linked {

using terms::Json;

Json context() {
  return Json{{"dcat", "http://www.w3.org/ns/dcat#"}, {"dcterms", "http://purl.org/dc/terms/"},
              {"hpc", terms::hpc_namespace},          {"prov", "http://www.w3.org/ns/prov#"},
              {"sabath", terms::sabath_namespace},    {"schema", "https://schema.org/"},
              {"spdx", "http://spdx.org/rdf/terms#"}};
}

Json head(const Recipe& recipe) {
  Json document{{"@context", context()}};
  terms::put(document, "@id", terms::identity(recipe));
  return document;
}

void enclose(Json& document, const Recipe& recipe) {
  Recipe shown = recipe;
  shown.name = shown.name.substr(shown.name.rfind('/') + 1);  // LAB/NAME of a subscribed catalogue
  for (Fragment& fragment : shown.fragments) {
    const std::vector<std::string> places = terms::places(fragment);
    std::erase_if(fragment.urls, [&](const Url& url) { return std::ranges::find(places, url.text()) == places.end(); });
    if (fragment.urls.empty()) return;  // no recipe could be read without them
  }
  enclose_recipe(document, shown);
}

Json types(AssetKind kind) {
  switch (kind) {
    case AssetKind::dataset:
      return Json::array({"schema:Dataset", "hpc:Dataset"});
    case AssetKind::model:
      return Json::array({"schema:SoftwareSourceCode", "hpc:AIModel"});
    case AssetKind::workflow:
      return Json::array({"schema:SoftwareSourceCode", "hpc:Experiment"});
    case AssetKind::library:
      return Json::array({"schema:SoftwareSourceCode", "sabath:Library"});
    case AssetKind::executable:
      return Json::array({"schema:SoftwareApplication", "sabath:Executable"});
    case AssetKind::object:
      break;
  }
  return Json::array({"schema:CreativeWork", "sabath:Object"});
}

std::string relation_term(std::string_view relation) {
  constexpr std::pair<std::string_view, std::string_view> all[] = {{"IsDerivedFrom", "prov:wasDerivedFrom"},
                                                                   {"IsPartOf", "dcterms:isPartOf"},
                                                                   {"HasPart", "dcterms:hasPart"},
                                                                   {"IsVersionOf", "dcterms:isVersionOf"},
                                                                   {"HasVersion", "dcterms:hasVersion"},
                                                                   {"Cites", "dcterms:references"},
                                                                   {"References", "dcterms:references"},
                                                                   {"IsCitedBy", "dcterms:isReferencedBy"},
                                                                   {"IsReferencedBy", "dcterms:isReferencedBy"},
                                                                   {"Requires", "dcterms:requires"},
                                                                   {"IsRequiredBy", "dcterms:isRequiredBy"},
                                                                   {"IsNewVersionOf", "dcterms:replaces"},
                                                                   {"Obsoletes", "dcterms:replaces"},
                                                                   {"IsObsoletedBy", "dcterms:isReplacedBy"},
                                                                   {"IsVariantFormOf", "dcterms:isFormatOf"}};
  for (const auto& [name, term] : all)
    if (name == relation) return std::string(term);
  return "dcterms:relation";
}

Json target(const std::string& text) { return is_uri(text) ? terms::reference(text) : Json{{"schema:name", text}}; }

}  // namespace sabath::linked
