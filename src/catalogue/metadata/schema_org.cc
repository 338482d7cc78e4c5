// schema.org, as search engines read it from a page: Dataset, or SoftwareSourceCode.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metadata/linked.h"
#include "recipe/metadata.h"

namespace sabath {
namespace {

using terms::Json;
using terms::put;

Json download(const Fragment& fragment, const Metadata& data) {
  const std::vector<std::string> urls = terms::places(fragment);
  Json node{{"@type", "DataDownload"}, {"name", fragment.id}};
  if (urls.size() == 1) node["contentUrl"] = urls.front();
  if (urls.size() > 1) node["contentUrl"] = urls;
  node["encodingFormat"] = terms::media_type(fragment, data);
  if (fragment.size_bytes) node["contentSize"] = fmt::format("{} B", *fragment.size_bytes);
  put(node, "sha256", fragment.checksum.sha256);
  return node;
}

std::string write_schema_org(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  const bool dataset = recipe.kind == AssetKind::dataset;
  constexpr const char* types[] = {
      "Dataset",     "SoftwareSourceCode", "SoftwareSourceCode", "SoftwareSourceCode", "SoftwareApplication",
      "CreativeWork"};
  Json document{{"@context", "https://schema.org/"}};
  put(document, "@id", terms::identity(recipe));
  document["@type"] = types[static_cast<std::size_t>(recipe.kind)];
  document["name"] = terms::title(recipe);
  put(document, "alternateName", recipe.title.empty() ? "" : recipe.name);
  document["description"] = terms::summary(recipe);
  put(document, "url", recipe.homepage);
  put(document, "version", recipe.version);
  const std::string licence = terms::licence_url(recipe);
  put(document, "license", licence.empty() ? recipe.licence : licence);
  Json identifiers = Json::array(), creators = Json::array(), downloads = Json::array(), variables = Json::array();
  if (!data.doi.empty()) identifiers.push_back(terms::doi_url(data.doi));
  if (!asset.root.empty()) identifiers.push_back(asset.root);
  put(document, "identifier", std::move(identifiers));
  put(document, "datePublished", data.published);
  for (const Party& party : data.creators) creators.push_back(terms::person(party, ""));
  put(document, "creator", std::move(creators));
  put(document, "keywords", data.keywords);
  document["isAccessibleForFree"] = recipe.access.kind != AccessKind::restricted;
  if (!recipe.citation.empty()) document["citation"] = recipe.citation;
  for (const RelatedAsset& each : data.related) {
    if (!is_uri(each.target)) continue;
    const char* const key = each.relation == "IsDerivedFrom" ? "isBasedOn"
                            : each.relation == "IsPartOf"    ? "isPartOf"
                            : each.relation == "HasPart"     ? "hasPart"
                                                             : "mentions";
    document[key].push_back(terms::reference(each.target));
  }
  for (const Variable& variable : data.format.variables) {
    Json node{{"@type", "PropertyValue"}, {"name", variable.name}};
    put(node, "description", variable.description);
    put(node, "unitText", variable.unit);
    variables.push_back(std::move(node));
  }
  if (dataset) put(document, "variableMeasured", std::move(variables));
  for (const Fragment& fragment : recipe.fragments) downloads.push_back(download(fragment, data));
  put(document, dataset ? "distribution" : "associatedMedia", std::move(downloads));
  if (recipe.git) document["codeRepository"] = recipe.git->origin;
  linked::enclose(document, recipe);
  return terms::text_of_document(document);
}

}  // namespace

extern constexpr MetadataFormat schema_org_format{"schema.org", "for search engines", false, write_schema_org};

}  // namespace sabath
