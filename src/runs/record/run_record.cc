#include "record/run_record.h"

#include <nlohmann/json.hpp>

#include "base/derivation.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json or_null(const std::vector<std::string>& texts) { return texts.empty() ? Json(nullptr) : Json(texts); }
Json or_null(const RunRecord::Document& document) { return document ? *document : Json(nullptr); }

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json steps_json(const std::vector<RunRecord::Step>& all) {
  Json steps = Json::array();
  for (const RunRecord::Step& step : all) {
    steps.push_back({{"argv", step.argv},
                     {"ranks", step.ranks},
                     {"exit", or_null(step.exit)},
                     {"signal", or_null(step.signal)},
                     {"seconds", or_null(step.seconds)}});
  }
  return steps;
}

Json source_json(const RunRecord::Source& source) {
  return {
      {"commit", or_null(source.commit)}, {"origin", or_null(source.origin)}, {"manifest", or_null(source.manifest)}};
}

Json trust_json(const RunRecord::Trust& trust) {
  return {{"by", trust.by},
          {"recipe_of", trust.recipe_of},
          {"origin", or_null(trust.origin)},
          {"commit", or_null(trust.commit)},
          {"digest", or_null(trust.digest)}};
}

Json times_json(const RunTimes& times) {
  return {{"fetch", or_null(times.fetch)},
          {"stage", or_null(times.stage)},
          {"verify", or_null(times.verify)},
          {"launch", or_null(times.launch)},
          {"train", or_null(times.train)}};
}

Json lineage_json(const std::vector<DerivationStep>& lineage) {
  Json steps = Json::array();
  for (const DerivationStep& step : lineage) steps.push_back(json_of(step));
  return steps;
}

Json files_json(const std::vector<RunRecord::NamedFile>& files) {
  Json all = Json::array();
  for (const auto& [name, path, sha256] : files)
    all.push_back({{"name", or_null(name)}, {"path", path}, {"sha256", or_null(sha256)}});
  return all;
}

Json config_json(const Facts& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config) json[name] = value;
  return json;
}

}  // namespace

Json to_json(const RunRecord::Recipe& recipe) {
  return {{"name", recipe.name}, {"version", or_null(recipe.version)}, {"digest", or_null(recipe.digest)}};
}

Json to_json(const std::vector<RunRecord::Asset>& assets) {
  Json all = Json::array();
  for (const RunRecord::Asset& asset : assets) {
    all.push_back({{"name", asset.name},
                   {"kind", asset.kind},
                   {"manifest", or_null(asset.manifest)},
                   {"verified_by", asset.verified_by},
                   {"path", or_null(asset.path)},
                   {"warm", or_null(asset.warm)}});
    if (!asset.lineage.empty()) all.back()["lineage"] = lineage_json(asset.lineage);
    if (!asset.role.empty()) all.back()["role"] = asset.role;
    if (asset.loads) all.back()["loads"] = {{"by", asset.loads->by}, {"found", asset.loads->found}};
  }
  return all;
}

Json to_json(const RunRecord& record) {
  Json json = {{"schema", 1},
               {"id", record.id},
               {"started", or_null(record.started)},
               {"finished", or_null(record.finished)},
               {"state", record.state},
               {"mode", record.mode},
               {"command", or_null(record.command)},
               {"steps", steps_json(record.steps)},
               {"launcher", record.launcher},
               {"ranks", or_null(record.ranks)},
               {"nodes", or_null(record.nodes)},
               {"recipe", record.recipe ? to_json(*record.recipe) : Json(nullptr)},
               {"assets", record.assets ? to_json(*record.assets) : Json(nullptr)},
               {"source", record.source ? source_json(*record.source) : Json(nullptr)},
               {"trust", record.trust ? trust_json(*record.trust) : Json(nullptr)},
               {"environment", or_null(record.environment)},
               {"machine", or_null(record.machine)},
               {"times", times_json(record.times)},
               {"harness_cpu_seconds", or_null(record.harness_cpu_s)},
               {"config", config_json(record.config)},
               {"exit", or_null(record.exit)},
               {"signal", or_null(record.signal)},
               {"last_lines", or_null(record.last_lines)},
               {"unwritten_lines", or_null(record.unwritten_lines)}};
  if (!record.inputs.empty()) json["inputs"] = files_json(record.inputs);
  if (!record.results.empty()) json["results"] = files_json(record.results);
  return json;
}

}  // namespace sabath
