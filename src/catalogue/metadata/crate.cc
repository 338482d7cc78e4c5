// RO-Crate 1.2, detached: the files stay where their URLs say.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metadata/terms.h"
#include "recipe/metadata.h"

namespace sabath {
namespace {

using terms::Json;
using terms::put;

// Adds an entity of its own for a person, and for whom they work; gives what refers to it.
Json add_person(Json& graph, const Party& party, std::size_t number) {
  Json node = terms::person(party, "");
  const std::string id = party.orcid.empty() ? fmt::format("#creator-{}", number) : "https://orcid.org/" + party.orcid;
  Json entity{{"@id", id}};
  entity.update(node);
  if (!party.affiliation.empty()) {
    const std::string organization = id + "-affiliation";
    entity["affiliation"] = terms::reference(organization);
    graph.push_back(Json{{"@id", organization}, {"@type", "Organization"}, {"name", party.affiliation}});
  }
  graph.push_back(std::move(entity));
  return terms::reference(id);
}

Json add_licence(Json& graph, const Recipe& recipe) {
  const std::string url = terms::licence_url(recipe);
  const std::string id = url.empty() ? "#licence" : url;
  const auto reason = metadata_of(recipe).unknown.find("licence");
  Json entity{{"@id", id}, {"@type", "CreativeWork"}};
  entity["name"] = recipe.licence.empty() ? "no licence is known" : recipe.licence;
  if (recipe.licence.empty() && reason != metadata_of(recipe).unknown.end()) entity["description"] = reason->second;
  graph.push_back(std::move(entity));
  return terms::reference(id);
}

Json add_file(Json& graph, const Fragment& fragment, const Metadata& data) {
  const std::vector<std::string> urls = terms::places(fragment);
  const std::string id = urls.empty() ? "#" + fragment.id : urls.front();
  Json entity{{"@id", id}, {"@type", "File"}, {"name", fragment.id}};
  entity["encodingFormat"] = terms::media_type(fragment, data);
  if (fragment.size_bytes) entity["contentSize"] = fmt::to_string(*fragment.size_bytes);
  put(entity, "sha256", fragment.checksum.sha256);
  if (urls.size() > 1) entity["contentUrl"] = urls;
  graph.push_back(std::move(entity));
  return terms::reference(id);
}

std::string write_crate_of_asset(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  const std::string id = terms::identity(recipe);
  const std::string root = id.starts_with("http") ? id : "./";
  Json graph = Json::array(), creators = Json::array(), parts = Json::array(), papers = Json::array();
  Json crate{{"@id", root}, {"@type", "Dataset"}, {"name", terms::title(recipe)}};
  crate["description"] = terms::summary(recipe);
  put(crate, "datePublished", data.published);
  crate["license"] = add_licence(graph, recipe);
  for (std::size_t i = 0; i < data.creators.size(); ++i) creators.push_back(add_person(graph, data.creators[i], i + 1));
  put(crate, "creator", std::move(creators));
  put(crate, "keywords", data.keywords);
  put(crate, "version", recipe.version);
  put(crate, "url", recipe.homepage);
  Json identifiers = Json::array();
  if (!id.empty() && id != root) identifiers.push_back(id);
  if (!data.doi.empty()) identifiers.push_back(terms::doi_url(data.doi));
  if (!asset.root.empty()) identifiers.push_back(asset.root);
  put(crate, "identifier", std::move(identifiers));
  for (const Fragment& fragment : recipe.fragments) parts.push_back(add_file(graph, fragment, data));
  put(crate, "hasPart", std::move(parts));
  for (const std::string& each : recipe.references) {
    if (!is_uri(each)) continue;
    papers.push_back(terms::reference(each));
    graph.push_back(Json{{"@id", each}, {"@type", "CreativeWork"}, {"name", each}});
  }
  put(crate, "citation", std::move(papers));
  Json all = Json::array({Json{{"@id", "ro-crate-metadata.json"},
                               {"@type", "CreativeWork"},
                               {"conformsTo", terms::reference("https://w3id.org/ro/crate/1.2")},
                               {"about", terms::reference(root)}}});
  all.push_back(std::move(crate));
  for (Json& entity : graph) all.push_back(std::move(entity));
  return terms::text_of_document(
      Json{{"@context", "https://w3id.org/ro/crate/1.2/context"}, {"@graph", std::move(all)}});
}

}  // namespace

extern constexpr MetadataFormat crate_format{"ro-crate", "RO-Crate 1.2, detached", false, write_crate_of_asset};

}  // namespace sabath
