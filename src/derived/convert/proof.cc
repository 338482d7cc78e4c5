#include "convert/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::json;  // objects sorted by key

// Six digits: more would tell one run from another, and not one model from another.
Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return std::stod(fmt::format("{:.6g}", value));
}

double number_in(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (value.is_string()) return value == "nan" ? std::nan("") : HUGE_VAL;
  return value.get<double>();
}

Json json_of_values(const std::vector<GraphValue>& values) {
  Json json = Json::array();
  for (const GraphValue& value : values)
    json.push_back(
        {{"name", value.name}, {"type", value.type}, {"shape", value.shape_known ? Json(value.shape) : Json()}});
  return json;
}

Json json_of_digests(const std::vector<Sha256>& digests) {
  Json json = Json::array();
  for (const Sha256& digest : digests) json.push_back(digest.prefixed());
  return json;
}

Json json_of_difference(const OutputDifference& difference) {
  if (!difference.trouble.empty()) return {{"trouble", difference.trouble}};
  return {{"elements", difference.elements},
          {"outside", difference.outside},
          {"max_abs", number_json(difference.max_abs)},
          {"of_allowed", number_json(difference.share)},
          {"rms", number_json(difference.rms)},
          {"nan_original", difference.nan_original},
          {"nan_converted", difference.nan_converted},
          {"argmax_other", difference.argmax_other},
          {"argmax_equal", difference.argmax_equal ? number_json(*difference.argmax_equal) : Json()}};
}

Json json_of_set(const JudgedSet& set) {
  Json outputs = Json::array();
  for (const JudgedOutput& output : set.outputs) {
    outputs.push_back({{"name", output.name},
                       {"type_original", name(output.original)},
                       {"type_converted", name(output.converted)},
                       {"difference", json_of_difference(output.difference)},
                       {"optimised", json_of_difference(output.optimised)},
                       {"original_noise", json_of_difference(output.noise)}});
  }
  return {{"name", set.name},
          {"batch", set.batch},
          {"trouble", set.trouble.empty() ? Json() : Json(set.trouble)},
          {"outputs", std::move(outputs)}};
}

Json json_of_measure(const OutputMeasure& measure) {
  const Yardstick& yardstick = measure.yardstick;
  const std::string trouble = yardstick.trouble();
  return {{"name", measure.name},
          {"tolerance",
           {{"absolute", yardstick.tolerance().absolute},
            {"relative", yardstick.tolerance().relative},
            {"ulps", Yardstick::ulps}}},
          {"features", yardstick.features()},
          {"constant", yardstick.constants()},
          {"without_numbers", yardstick.silent()},
          {"below_rounding", yardstick.hidden()},
          {"least_spread", number_json(yardstick.least_spread())},
          {"noisy", measure.is_noisy},
          {"trouble", trouble.empty() ? Json() : Json(trouble)}};
}

Json json_of_expectation(const StatedTerms& expected) {
  return {{"input_names", expected.input_names},
          {"output_names", expected.output_names},
          {"opset", expected.opset ? Json(*expected.opset) : Json()},
          {"any_batch", expected.any_batch},
          {"precision", expected.precision ? Json(name(*expected.precision)) : Json()},
          {"absolute", expected.absolute ? Json(*expected.absolute) : Json()},
          {"relative", expected.relative ? Json(*expected.relative) : Json()},
          {"stochastic", expected.stochastic.empty() ? Json() : Json(expected.stochastic)}};
}

Json json_of_model(const ProvenModel& model) {
  Json files = Json::object(), sets = Json::array(), measures = Json::array();
  for (const auto& [path, digest] : model.files) files[path] = digest.prefixed();
  for (const JudgedSet& set : model.judgement.sets) sets.push_back(json_of_set(set));
  for (const OutputMeasure& measure : model.judgement.measures) measures.push_back(json_of_measure(measure));
  Json json = {{"name", model.name},
               {"source",
                {{"name", model.source},
                 {"sha256", model.source_digest.prefixed()},
                 {"root", model.source_root ? Json(model.source_root->prefixed()) : Json()},
                 {"code", model.code ? Json(model.code->prefixed()) : Json()},
                 {"factory", model.factory.empty() ? Json() : Json(model.factory)}}},
               {"inputs",
                {{"dummy", json_of_digests(model.dummy)}, {"data", json_of_digests(model.data)}, {"rows", model.rows}}},
               {"converter",
                {{"engine", model.from},
                 {"digest", model.engine.prefixed()},
                 {"argv", model.argv},
                 {"tools", model.tools},
                 {"network", model.isolation}}},
               {"stated", json_of_expectation(model.expected)},
               {"graph", model.graph ? json_of_graph(*model.graph) : Json()},
               {"file", model.file.empty() ? Json() : Json(model.file)},
               {"files", std::move(files)},
               {"comparison", std::move(sets)},
               {"judged_by", std::move(measures)},
               {"findings", model.judgement.findings},
               {"notes", model.judgement.notes},
               {"verdict", name(model.judgement.verdict)}};
  for (const MergedParent& parent : model.parents)
    json["source"]["chain"].push_back({{"name", parent.name},
                                       {"source", parent.source},
                                       {"sha256", parent.digest.prefixed()},
                                       {"root", parent.root ? Json(parent.root->prefixed()) : Json()}});
  return json;
}

std::optional<TensorType> precision_in(const Json& stated) {
  if (!stated.at("precision").is_string()) return std::nullopt;
  for (const TensorType type : {TensorType::float16, TensorType::float32, TensorType::float64}) {
    if (stated.at("precision") == name(type)) return type;
  }
  throw Error(FailureKind::invalid, "a precision that is none");
}

void take_larger(std::optional<double>& all, const Json& difference) {
  if (!difference.contains("trouble")) all = std::max(all.value_or(0), number_in(difference, "max_abs"));
}

Tolerance tolerance_in(const Json& json) { return {json.at("absolute"), json.at("relative")}; }

// Of all sets and outputs: the largest difference and the largest noise.
void read_figures(const Json& json, ReadModel& model) {
  for (const Json& set : json.at("comparison")) {
    model.sets.push_back(set.at("name"));
    for (const Json& output : set.at("outputs")) {
      model.compared.emplace(model.sets.back(), output.at("name").get<std::string>());
      if (model.schema == 1) model.tolerances[output.at("name")] = tolerance_in(output.at("tolerance"));
      take_larger(model.max_abs, output.at("difference"));
      take_larger(model.noise, output.at("original_noise"));
    }
  }
  if (model.schema == 1) return;
  for (const Json& measure : json.at("judged_by")) {
    model.tolerances[measure.at("name")] = tolerance_in(measure.at("tolerance"));
    if (measure.at("noisy").get<bool>()) model.noisy.insert(measure.at("name").get<std::string>());
  }
}

ReadModel read_model(const Json& json, std::uint64_t schema) {
  ReadModel model;
  model.schema = schema;
  model.name = json.at("name");
  if (!is_name(model.name)) throw Error(FailureKind::invalid, "a model without a name");
  if (json.at("file").is_string()) model.file = json.at("file");
  model.verdict = json.at("verdict");
  model.from = json.at("converter").at("engine");
  for (const auto& [path, digest] : json.at("files").items())
    model.files[RelativePath::parse(path).text()] = Sha256::parse(digest.get<std::string>());
  model.graph = json.at("graph").is_null() ? "" : json.at("graph").dump();
  const Json& stated = json.at("stated");
  model.expected.input_names = stated.at("input_names");
  model.expected.precision = precision_in(stated);
  if (stated.at("stochastic").is_string()) model.expected.stochastic = stated.at("stochastic");
  if (stated.at("absolute").is_number()) model.expected.absolute = stated.at("absolute");
  if (stated.at("relative").is_number()) model.expected.relative = stated.at("relative");
  model.source_digest = Sha256::parse(json.at("source").at("sha256").get<std::string>());
  model.inputs = std::max(json.at("inputs").at("dummy").size(), json.at("inputs").at("data").size());
  model.findings = json.at("findings");
  model.notes = json.at("notes");
  read_figures(json, model);
  return model;
}

}  // namespace

ConversionVerdict Proof::verdict() const {
  ConversionVerdict worst = ConversionVerdict::equal;
  for (const ProvenModel& model : models) worst = std::max(worst, model.judgement.verdict);
  return worst;
}

Json json_of_graph(const GraphFacts& graph) {
  Json opsets = Json::object(), operators = Json::object();
  for (const auto& [domain, version] : graph.opsets) opsets[domain] = version;
  for (const auto& [operation, count] : graph.operators) operators[operation] = count;
  return {{"ir_version", graph.ir_version},
          {"producer", graph.producer},
          {"name", graph.name},
          {"opsets", std::move(opsets)},
          {"inputs", json_of_values(graph.inputs)},
          {"outputs", json_of_values(graph.outputs)},
          {"operators", std::move(operators)},
          {"nodes", graph.nodes},
          {"functions", graph.functions},
          {"initializers", graph.initializers},
          {"initializer_bytes", graph.initializer_bytes},
          {"external_data", graph.external_data}};
}

std::string text_of(const Proof& proof) {
  Json models = Json::array();
  for (const ProvenModel& model : proof.models) models.push_back(json_of_model(model));
  const Json json = {{"schema", 2},
                     {"kind", "sabath conversion"},
                     {"key", proof.key},
                     {"request", proof.request.empty() ? Json() : Json::parse(proof.request)},
                     {"seed", proof.seed},
                     {"witness", {{"sabath", proof.sabath_version}, {"onnxruntime", proof.runtime_version}}},
                     {"models", std::move(models)},
                     {"verdict", name(proof.verdict())}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<LatencyRow> latencies_of(const Proof& proof) {
  std::vector<LatencyRow> rows;
  for (const ProvenModel& model : proof.models) {
    for (const Timing& timing : model.judgement.timings) {
      rows.push_back({model.name, timing.what, "cpu", timing.set, timing.batch, timing.threads, timing.warm_up,
                      timing.calls, timing.median_seconds, timing.p95_seconds});
    }
  }
  return rows;
}

ReadProof parse_proof(std::string_view text, const std::string& name) {
  JsonLimits limits;
  limits.size_max = proof_bytes_max;
  static_cast<void>(parse_json(text, name, limits));  // bounds of depth and size
  try {
    const Json json = Json::parse(text);
    if ((json.at("schema") != 1 && json.at("schema") != 2) || json.at("kind") != "sabath conversion")
      throw Error(FailureKind::invalid, name + " is no proof of a conversion that this version knows");
    ReadProof proof;
    proof.key = json.at("key");
    proof.schema = json.at("schema");
    if (proof.schema > 1) proof.request = json.at("request").dump();
    proof.verdict = json.at("verdict");
    for (const Json& model : json.at("models")) {
      proof.models.push_back(read_model(model, proof.schema));
      proof.isolation = model.at("converter").at("network");
    }
    return proof;
  } catch (const Json::exception& error) {
    throw Error(FailureKind::invalid,
                fmt::format("{} is no proof of a conversion: {}", name, printable(error.what(), 500)));
  } catch (const Error& error) {
    throw Error(FailureKind::invalid, fmt::format("{} is no proof of a conversion: {}", name, error.failure().message));
  }
}

// What the proof says of its models against the request.
std::vector<std::string> disagreements_of(const ReadProof& proof) {
  std::vector<std::string> found;
  try {
    const Json request = Json::parse(proof.request);
    const auto figure = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    const bool merged = request.contains("merge");
    const Json& asked = request.at("convert");
    if (asked.size() != proof.models.size() && !merged) found.emplace_back("the request has other models");
    for (std::size_t i = 0; i < proof.models.size() && i < asked.size(); ++i) {
      const ReadModel& model = proof.models[i];
      const auto differ = [&](std::string_view what) {
        found.push_back(fmt::format("{} of {} is not what was requested", what, model.name));
      };
      if (asked[i].at("source") != model.source_digest.prefixed()) differ("the source");
      if (asked[i].at("from") != model.from) differ("the engine");
      if (!merged && asked[i].at("name") != model.name) differ("the name");
      if (asked[i].at("input_names") != model.expected.input_names) differ("an input's name");
      if (request.at("stochastic") != model.expected.stochastic) differ("the reason of a stochastic model");
      if (request.at("absolute") != figure(model.expected.absolute) ||
          request.at("relative") != figure(model.expected.relative))
        differ("the stated tolerance");
    }
  } catch (const Json::exception& error) {
    found.push_back(fmt::format("the request is none: {}", printable(error.what(), 500)));
  }
  return found;
}

std::string evidence_path(const std::string& model, const std::string& set, std::string_view what, std::size_t k) {
  return fmt::format("evidence/{}/{}.{}.{}.npy", model, set, what, k);
}

}  // namespace sabath
