// The keys that the papers on HPCFAIR print, under the namespace of the HPC Ontology. Of these keys the ontology's
// release 1.0.0 has isTunable, machineLearningFramework and supportsAccelerator, and the classes; docs/metadata.md
// lists the others.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metadata/linked.h"

namespace sabath {
namespace {

using terms::Json;
using terms::put;

// A key of the user's below a key of the papers'.
Json keyed(const std::map<std::string, std::string>& values, std::string_view name) {
  if (values.empty()) return nullptr;
  Json object{{"@context", {{"@vocab", fmt::format("{}{}/", terms::sabath_namespace, name)}}}};
  for (const auto& [key, value] : values) object[key] = value;
  return object;
}

std::vector<std::string> files_of(const Recipe& recipe) {
  std::vector<std::string> files;
  for (const Fragment& fragment : recipe.fragments)
    for (std::string& url : terms::places(fragment)) files.push_back(std::move(url));
  if (recipe.git) files.push_back(recipe.git->origin);
  return files;
}

std::string write_hpc(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  Json document = linked::head(recipe);
  document["@context"]["title"] = "dcterms:title";
  document["@context"]["description"] = "dcterms:description";
  document["@context"]["url"] = Json{{"@id", "schema:url"}, {"@type", "@id"}};
  document["@type"] = linked::types(recipe.kind)[1];
  document["title"] = terms::title(recipe);
  document["description"] = terms::summary(recipe);
  put(document, "url", recipe.homepage);
  if (data.submitter) document["hpc:submitter"] = data.submitter->shown();
  std::map<std::string, std::string> tags = data.tags;
  if (!recipe.version.empty()) tags.emplace("Version", recipe.version);
  if (!recipe.licence.empty()) tags.emplace("License", recipe.licence);
  put(document, "hpc:tags", keyed(tags, "tag"));
  put(document, "hpc:associatedFiles", files_of(recipe));
  for (const RelatedAsset& each : data.related)
    if (each.relation == "IsRequiredBy") document["hpc:associatedExpt"].push_back(each.target);
  put(document, "hpc:citation", recipe.citation);
  const ModelFacts& model = data.model;
  put(document, "hpc:modelFormat", model.format);
  if (model.tunable) document["hpc:isTunable"] = *model.tunable;
  put(document, "hpc:hyperParams", keyed(model.hyper_parameters, "hyperParams"));
  put(document, "hpc:machineLearningFramework", model.framework);
  put(document, "hpc:modelType", model.type);
  put(document, "hpc:supportsAccelerator", model.accelerators);
  if (!model.accelerators.empty())
    document["hpc:acceleratorSupport"] = model.accelerators != std::vector<std::string>{"none"};
  put(document, "hpc:metrics", model.metrics);
  const ExperimentFacts& experiment = data.experiment;
  put(document, "hpc:associatedWorkflow", experiment.workflow);
  put(document, "hpc:reqSoftwares", experiment.software);
  put(document, "hpc:reqHardware", experiment.hardware);
  put(document, "hpc:sysConfig", keyed(experiment.system, "sysConfig"));
  put(document, "hpc:associatedDataset", experiment.datasets);
  put(document, "hpc:associatedModel", experiment.models);
  linked::enclose(document, recipe);
  return terms::text_of_document(document);
}

}  // namespace

extern constexpr MetadataFormat hpc_format{"hpc", "the keys of HPCFAIR and the HPC Ontology", false, write_hpc};

}  // namespace sabath
