// Recipes of documents as text: the keys of docs/recipes.md and docs/metadata.md in a fixed order.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "recipe/document.h"
#include "recipe/naming.h"
#include "sabath/metadata.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put(Json& object, const char* key, const std::vector<std::string>& texts) {
  if (!texts.empty()) object[key] = texts;
}

void put(Json& object, const char* key, const std::map<std::string, std::string>& facts) {
  if (!facts.empty()) object[key] = facts;
}

void put_json(Json& object, const char* key, Json value) {
  if (!value.empty()) object[key] = std::move(value);
}

Json party_json(const Party& party) {
  Json node{{"name", party.name}};
  if (party.organization) node["type"] = "organization";
  put(node, "orcid", party.orcid);
  put(node, "affiliation", party.affiliation);
  return node;
}

Json shape_json(const Variable& variable) {
  Json shape = Json::array();
  for (const auto& axis : *variable.shape) shape.push_back(axis ? Json(*axis) : Json());
  return shape;
}

Json format_json(const FormatFacts& format) {
  Json node = Json::object();
  put(node, "names", format.names);
  put(node, "media_types", format.media_types);
  put(node, "conforms_to", format.conforms_to);
  Json variables = Json::array();
  for (const Variable& variable : format.variables) {
    Json one{{"name", variable.name}};
    put(one, "dtype", variable.dtype);
    put(one, "unit", variable.unit);
    put(one, "description", variable.description);
    if (variable.shape) one["shape"] = shape_json(variable);
    variables.push_back(std::move(one));
  }
  put_json(node, "variables", std::move(variables));
  return node;
}

Json model_json(const ModelFacts& model) {
  Json node = Json::object();
  put(node, "format", model.format);
  put(node, "framework", model.framework);
  put(node, "type", model.type);
  if (model.tunable) node["tunable"] = *model.tunable;
  put(node, "hyper_parameters", model.hyper_parameters);
  put(node, "metrics", model.metrics);
  put(node, "accelerators", model.accelerators);
  return node;
}

Json experiment_json(const ExperimentFacts& experiment) {
  Json node = Json::object();
  put(node, "workflow", experiment.workflow);
  put(node, "software", experiment.software);
  put(node, "hardware", experiment.hardware);
  put(node, "system", experiment.system);
  put(node, "datasets", experiment.datasets);
  put(node, "models", experiment.models);
  return node;
}

void put_metadata(Json& recipe, const Metadata& data) {
  put(recipe, "id", data.id);
  put(recipe, "doi", data.doi);
  put(recipe, "published", data.published);
  Json creators = Json::array(), related = Json::array();
  for (const Party& party : data.creators) creators.push_back(party_json(party));
  put_json(recipe, "creators", std::move(creators));
  if (data.submitter) recipe["submitter"] = party_json(*data.submitter);
  put(recipe, "tags", data.tags);
  put(recipe, "keywords", data.keywords);
  for (const RelatedAsset& each : data.related)
    related.push_back(Json{{"relation", each.relation}, {"target", each.target}});
  put_json(recipe, "related", std::move(related));
  put_json(recipe, "format", format_json(data.format));
  put_json(recipe, "model", model_json(data.model));
  put_json(recipe, "experiment", experiment_json(data.experiment));
}

Json git_json(const GitSource& git) {
  Json node{{"origin", git.origin}};
  put(node, "branch", git.branch);
  put(node, "tag", git.tag);
  put(node, "commit", git.commit);
  return node;
}

void put_sources(Json& out, const Recipe& recipe) {
  if (recipe.git) out["git"] = git_json(*recipe.git);
  Json forks = Json::array();
  for (const GitSource& fork : recipe.forks) forks.push_back(git_json(fork));
  put_json(out, "forks", std::move(forks));
  if (!recipe.manifest) return;
  Json urls = Json::array();
  for (const Url& url : recipe.manifest->urls) urls.push_back(url.text());
  out["manifest"] = Json{{"digest", recipe.manifest->digest.prefixed()}};
  put_json(out["manifest"], "urls", std::move(urls));
}

Json access_json(const Access& access) {
  constexpr const char* kinds[] = {"public", "login", "private"};
  Json node{{"kind", kinds[static_cast<std::size_t>(access.kind)]}};
  put(node, "steps", access.steps);
  return node;
}

Json fragment_json(const Fragment& fragment) {
  constexpr const char* types[] = {"file", "archive", "file_list"};
  Json node{{"id", fragment.id}, {"type", types[static_cast<std::size_t>(fragment.type)]}};
  if (fragment.path) node["path"] = fragment.path->text();
  Json urls = Json::array(), sums = Json::object();
  for (const Url& url : fragment.urls) urls.push_back(url.text());
  node["urls"] = std::move(urls);
  if (fragment.size_bytes) node["size"] = *fragment.size_bytes;
  if (fragment.limit) node["limit"] = *fragment.limit;
  for (const ChecksumAlgorithm& algorithm : checksum_algorithms)
    put(sums, std::string(algorithm.name).c_str(), fragment.checksum.*algorithm.value);
  put_json(node, "checksum", std::move(sums));
  return node;
}

}  // namespace

std::string text_of_recipe(const Recipe& recipe, const std::optional<Url>& page) {
  const Metadata& data = metadata_of(recipe);
  Json out{{"schema", 1}, {"kind", kind_name(recipe.kind)}, {"name", recipe.name}};
  put(out, "version", recipe.version);
  put(out, "title", recipe.title);
  put(out, "abstract", recipe.abstract_text);
  put(out, "description", recipe.description);
  put(out, "homepage", recipe.homepage);
  put(out, "licence", recipe.licence);
  put(out, "citation", recipe.citation);
  put(out, "references", recipe.references);
  put_metadata(out, data);
  if (recipe.access.kind != AccessKind::open || !recipe.access.steps.empty())
    out["access"] = access_json(recipe.access);
  if (recipe.reach) out["reach"] = reach_name(*recipe.reach);
  Json fragments = Json::array();
  for (const Fragment& fragment : recipe.fragments) fragments.push_back(fragment_json(fragment));
  if (!is_code(recipe.kind) || !fragments.empty()) out["fragments"] = std::move(fragments);
  put_sources(out, recipe);
  put(out, "metadata", recipe.metadata);
  put(out, "unknown", data.unknown);
  Json pages = Json::object();
  for (const auto& [key, each] : data.read_from)
    if (out.contains(key.substr(0, key.find('.')))) pages[key] = each;
  if (page && (page->scheme() == "https" || page->scheme() == "http")) pages["name"] = page->text();
  put_json(out, "read_from", std::move(pages));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sabath
