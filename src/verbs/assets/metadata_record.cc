#include <nlohmann/json.hpp>

#include "sabath/metadata.h"
#include "verbs/records.h"

namespace sabath {
namespace {

Json party_record(const Party& party) {
  return {{"name", party.name},
          {"type", party.organization ? "organization" : "person"},
          {"orcid", text_or_null(party.orcid)},
          {"affiliation", text_or_null(party.affiliation)}};
}

Json variable_record(const Variable& variable) {
  Json shape(nullptr);
  if (variable.shape) {
    shape = Json::array();
    for (const auto& axis : *variable.shape) shape.push_back(value_or_null(axis));
  }
  return {{"name", variable.name},
          {"dtype", text_or_null(variable.dtype)},
          {"unit", text_or_null(variable.unit)},
          {"description", text_or_null(variable.description)},
          {"shape", std::move(shape)}};
}

Json format_record(const FormatFacts& format) {
  Json variables = Json::array();
  for (const Variable& variable : format.variables) variables.push_back(variable_record(variable));
  return {{"names", format.names},
          {"media_types", format.media_types},
          {"conforms_to", format.conforms_to},
          {"variables", std::move(variables)}};
}

Json model_record(const ModelFacts& model) {
  if (model.empty()) return nullptr;
  return {
      {"format", text_or_null(model.format)},       {"framework", text_or_null(model.framework)},
      {"type", text_or_null(model.type)},           {"tunable", model.tunable ? Json(*model.tunable) : Json(nullptr)},
      {"hyper_parameters", model.hyper_parameters}, {"metrics", model.metrics},
      {"accelerators", model.accelerators}};
}

Json experiment_record(const ExperimentFacts& experiment) {
  if (experiment.empty()) return nullptr;
  return {{"workflow", text_or_null(experiment.workflow)},
          {"software", experiment.software},
          {"hardware", experiment.hardware},
          {"system", experiment.system},
          {"datasets", experiment.datasets},
          {"models", experiment.models}};
}

}  // namespace

Json json_of(const Metadata& data) {
  Json record;
  record["id"] = text_or_null(data.id);
  record["doi"] = text_or_null(data.doi);
  record["published"] = text_or_null(data.published);
  record["creators"] = Json::array();
  for (const Party& party : data.creators) record["creators"].push_back(party_record(party));
  record["submitter"] = data.submitter ? party_record(*data.submitter) : Json(nullptr);
  record["tags"] = data.tags;
  record["keywords"] = data.keywords;
  record["related"] = Json::array();
  for (const RelatedAsset& each : data.related)
    record["related"].push_back({{"relation", each.relation}, {"target", each.target}});
  record["format"] = format_record(data.format);
  record["model"] = model_record(data.model);
  record["experiment"] = experiment_record(data.experiment);
  record["unknown"] = data.unknown;
  record["read_from"] = data.read_from;
  return record;
}

}  // namespace sabath
