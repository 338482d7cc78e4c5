// All that the recipe says, as JSON-LD 1.1 with its context inside: Dublin Core, schema.org, PROV-O, the HPC Ontology,
// and terms of our own where none of these has one.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metadata/linked.h"
#include "recipe/metadata.h"

namespace sabath {
namespace {

using terms::Json;
using terms::put;

// Keys that a recipe chooses become terms below `name`, with texts as values.
Json named_values(const std::map<std::string, std::string>& values, std::string_view name) {
  if (values.empty()) return nullptr;
  Json object{{"@context", {{"@vocab", fmt::format("{}{}/", terms::sabath_namespace, name)}}}};
  for (const auto& [key, value] : values) object[key] = value;
  return object;
}

Json ordered(Json array) { return array.empty() ? Json(nullptr) : Json{{"@list", std::move(array)}}; }

Json fragment_node(const Fragment& fragment, const Metadata& data) {
  Json node{{"@type", "schema:DataDownload"}, {"schema:name", fragment.id}};
  constexpr std::string_view types[] = {"file", "archive", "file_list"};
  node["sabath:fragmentType"] = types[static_cast<std::size_t>(fragment.type)];
  node["schema:contentUrl"] = ordered(terms::places(fragment));
  node["schema:encodingFormat"] = terms::media_type(fragment, data);
  if (fragment.size_bytes) node["dcat:byteSize"] = *fragment.size_bytes;
  if (fragment.path) node["sabath:path"] = fragment.path->text();
  if (fragment.limit) node["sabath:limit"] = *fragment.limit;
  for (const ChecksumAlgorithm& algorithm : checksum_algorithms) {
    const std::string& hex = fragment.checksum.*algorithm.value;
    if (!hex.empty())
      node["spdx:checksum"].push_back(
          Json{{"@type", "spdx:Checksum"},
               {"spdx:algorithm", terms::reference(fmt::format("spdx:checksumAlgorithm_{}", algorithm.name))},
               {"spdx:checksumValue", hex}});
  }
  return node;
}

Json git_node(const GitSource& git) {
  Json node{{"@type", "schema:SoftwareSourceCode"}, {"schema:codeRepository", git.origin}};
  put(node, "sabath:branch", git.branch);
  put(node, "sabath:tag", git.tag);
  put(node, "sabath:commit", git.commit);
  return node;
}

Json variable_node(const Variable& variable) {
  Json node{{"@type", "schema:PropertyValue"}, {"schema:name", variable.name}};
  put(node, "sabath:dtype", variable.dtype);
  put(node, "schema:unitText", variable.unit);
  put(node, "schema:description", variable.description);
  if (!variable.shape) return node;
  Json shape = Json::array();
  for (const auto& axis : *variable.shape) shape.push_back(axis ? Json(*axis) : Json("?"));
  node["sabath:shape"] = Json{{"@list", std::move(shape)}};
  return node;
}

void put_format(Json& document, const FormatFacts& format) {
  put(document, "hpc:fileFormat", format.names);
  put(document, "schema:encodingFormat", format.media_types);
  Json standards = Json::array(), variables = Json::array();
  for (const std::string& uri : format.conforms_to) standards.push_back(terms::reference(uri));
  for (const Variable& variable : format.variables) variables.push_back(variable_node(variable));
  put(document, "dcterms:conformsTo", std::move(standards));
  put(document, "schema:variableMeasured", ordered(std::move(variables)));
}

void put_related(Json& document, const Metadata& data) {
  for (const RelatedAsset& each : data.related) {
    Json target = linked::target(each.target);
    document[linked::relation_term(each.relation)].push_back(target);
    document["sabath:related"].push_back(
        Json{{"sabath:relation", each.relation}, {"sabath:target", std::move(target)}});
  }
}

void put_model(Json& document, const ModelFacts& model) {
  put(document, "hpc:modelFormat", model.format);
  put(document, "hpc:machineLearningFramework", model.framework);
  put(document, "hpc:modelType", model.type);
  if (model.tunable) document["hpc:isTunable"] = *model.tunable;
  put(document, "hpc:hyperParams", named_values(model.hyper_parameters, "hyperParams"));
  put(document, "hpc:metrics", model.metrics);
  put(document, "hpc:supportsAccelerator", model.accelerators);
}

void put_experiment(Json& document, const ExperimentFacts& experiment) {
  const auto targets = [](const std::vector<std::string>& all) {
    Json list = Json::array();
    for (const std::string& each : all) list.push_back(linked::target(each));
    return list;
  };
  if (!experiment.workflow.empty()) document["hpc:associatedWorkflow"] = linked::target(experiment.workflow);
  put(document, "hpc:reqSoftwares", experiment.software);
  put(document, "hpc:reqHardware", experiment.hardware);
  put(document, "hpc:sysConfig", named_values(experiment.system, "sysConfig"));
  put(document, "hpc:associatedDataset", targets(experiment.datasets));
  put(document, "hpc:associatedModel", targets(experiment.models));
}

void put_sources(Json& document, const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  Json fragments = Json::array(), forks = Json::array(), pages = Json::array();
  for (const Fragment& fragment : recipe.fragments) fragments.push_back(fragment_node(fragment, data));
  put(document, "schema:distribution", ordered(std::move(fragments)));
  put(document, "sabath:manifest", asset.root);
  if (recipe.git) document["sabath:git"] = git_node(*recipe.git);
  for (const GitSource& fork : recipe.forks) forks.push_back(git_node(fork));
  put(document, "sabath:fork", ordered(std::move(forks)));
  put(document, "sabath:fact", named_values(recipe.metadata, "fact"));
  put(document, "sabath:unknown", named_values(data.unknown, "unknown"));
  for (const auto& [key, urls] : data.read_from) {
    Json sources = Json::array();
    for (const std::string& url : urls) sources.push_back(terms::reference(url));
    pages.push_back(Json{{"sabath:key", key}, {"dcterms:source", std::move(sources)}});
  }
  put(document, "sabath:readFrom", ordered(std::move(pages)));
}

std::string write_jsonld(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  Json document = linked::head(recipe);
  document["@type"] = linked::types(recipe.kind);
  document["schema:name"] = recipe.name;
  put(document, "dcterms:title", recipe.title);
  put(document, "dcterms:abstract", recipe.abstract_text);
  put(document, "dcterms:description", recipe.description);
  put(document, "schema:version", recipe.version);
  if (!recipe.homepage.empty()) document["schema:url"] = terms::reference(recipe.homepage);
  put(document, "sabath:licence", recipe.licence);
  if (const std::string url = terms::licence_url(recipe); !url.empty())
    document["dcterms:license"] = terms::reference(url);
  put(document, "sabath:doi", data.doi);
  put(document, "dcterms:issued", data.published);
  Json creators = Json::array(), references = Json::array();
  for (const Party& party : data.creators) creators.push_back(terms::person(party, "schema:"));
  put(document, "schema:creator", ordered(std::move(creators)));
  if (data.submitter) document["hpc:submitter"] = terms::person(*data.submitter, "schema:");
  put(document, "schema:keywords", data.keywords);
  put(document, "hpc:tags", named_values(data.tags, "tag"));
  put(document, "hpc:citation", recipe.citation);
  for (const std::string& each : recipe.references)
    references.push_back(is_uri(each) ? terms::reference(each) : Json(each));
  put(document, "dcterms:references", std::move(references));
  put_related(document, data);
  put_format(document, data.format);
  put_model(document, data.model);
  put_experiment(document, data.experiment);
  put_sources(document, asset);
  linked::enclose(document, recipe);
  return terms::text_of_document(document);
}

}  // namespace

extern constexpr MetadataFormat jsonld_format{"jsonld", "all that the recipe says, as JSON-LD", false, write_jsonld};

}  // namespace sabath
