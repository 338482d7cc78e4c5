// DataCite's metadata schema 4.5 in JSON, as repositories take it for a DOI. What it demands and the recipe does not
// say has DataCite's own value for "unavailable", but for the year, which has none.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metadata/terms.h"
#include "recipe/metadata.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using terms::Json;
using terms::put;

constexpr const char* unavailable = ":unav";

Json datacite_party(const Party& party) {
  Json node{{"name", party.name}, {"nameType", party.organization ? "Organizational" : "Personal"}};
  put(node, "givenName", std::string(party.given()));
  put(node, "familyName", std::string(party.family()));
  if (!party.affiliation.empty()) node["affiliation"] = Json::array({Json{{"name", party.affiliation}}});
  if (!party.orcid.empty())
    node["nameIdentifiers"] = Json::array({Json{{"nameIdentifier", "https://orcid.org/" + party.orcid},
                                                {"nameIdentifierScheme", "ORCID"},
                                                {"schemeUri", "https://orcid.org"}}});
  return node;
}

Json datacite_relations(const Metadata& data) {
  Json all = Json::array();
  for (const RelatedAsset& each : data.related) {
    if (!is_uri(each.target)) continue;  // a recipe's name means nothing to DataCite
    constexpr std::string_view resolver = "https://doi.org/";
    const bool doi = each.target.starts_with(resolver);
    all.push_back(Json{{"relatedIdentifier", doi ? each.target.substr(resolver.size()) : each.target},
                       {"relatedIdentifierType", doi                               ? "DOI"
                                                 : each.target.starts_with("urn:") ? "URN"
                                                                                   : "URL"},
                       {"relationType", each.relation}});
  }
  return all;
}

Json datacite_rights(const Recipe& recipe) {
  Json rights{{"rights", recipe.licence}};
  const std::string url = terms::licence_url(recipe);
  if (!url.empty()) {
    rights["rightsUri"] = url;
    rights["rightsIdentifier"] = recipe.licence;
    rights["rightsIdentifierScheme"] = "SPDX";
    rights["schemeUri"] = "https://spdx.org/licenses/";
  }
  return Json::array({rights});
}

void put_contents(Json& document, const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  Json sizes = Json::array();
  for (const Fragment& fragment : recipe.fragments)
    if (fragment.size_bytes) sizes.push_back(fmt::format("{} B", *fragment.size_bytes));
  put(document, "sizes", std::move(sizes));
  put(document, "formats", !data.format.media_types.empty() ? data.format.media_types : data.format.names);
  Json others = Json::array();
  if (!asset.root.empty())
    others.push_back(Json{{"alternateIdentifier", asset.root}, {"alternateIdentifierType", "SABATH manifest root"}});
  if (!data.id.empty()) others.push_back(Json{{"alternateIdentifier", data.id}, {"alternateIdentifierType", "URI"}});
  put(document, "alternateIdentifiers", std::move(others));
}

std::string write_datacite(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  if (data.published.empty())
    throw Error(
        FailureKind::not_found,
        fmt::format("the recipe of {} does not say \"published\", which DataCite demands", printable(recipe.name)),
        "add \"published\": \"YYYY\" if a page states it");
  Json document;
  Json creators = Json::array(), subjects = Json::array();
  put(document, "doi", data.doi);
  for (const Party& party : data.creators) creators.push_back(datacite_party(party));
  if (creators.empty()) creators.push_back(Json{{"name", unavailable}});
  document["creators"] = std::move(creators);
  document["titles"] = Json::array({Json{{"title", terms::title(recipe)}}});
  document["publisher"] = Json{{"name", unavailable}};
  document["publicationYear"] = data.published.substr(0, 4);
  for (const std::string& word : data.keywords) subjects.push_back(Json{{"subject", word}});
  put(document, "subjects", std::move(subjects));
  if (data.published.size() > 4)
    document["dates"] = Json::array({Json{{"date", data.published}, {"dateType", "Issued"}}});
  constexpr const char* types[] = {"Dataset", "Software", "Workflow", "Software", "Software", "Other"};
  document["types"] = Json{{"resourceTypeGeneral", types[static_cast<std::size_t>(recipe.kind)]},
                           {"resourceType", kind_name(recipe.kind)}};
  put_contents(document, asset);
  put(document, "version", recipe.version);
  if (!recipe.licence.empty()) document["rightsList"] = datacite_rights(recipe);
  document["descriptions"] =
      Json::array({Json{{"description", terms::summary(recipe)}, {"descriptionType", "Abstract"}}});
  put(document, "relatedIdentifiers", datacite_relations(data));
  put(document, "url", recipe.homepage);
  document["schemaVersion"] = "http://datacite.org/schema/kernel-4";
  return terms::text_of_document(document);
}

}  // namespace

extern constexpr MetadataFormat datacite_format{"datacite", "DataCite 4.5, for a DOI", false, write_datacite};

}  // namespace sabath
