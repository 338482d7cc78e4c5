#include "sabath/convert.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "convert/convert.h"
#include "fields/request.h"
#include "session/caller_of.h"
#include "verbs/records.h"

namespace sabath {
namespace {

std::optional<double> try_figure(JsonObject& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* const whole = value->get<std::uint64_t>()) return static_cast<double>(*whole);
  if (const auto* const number = value->get<JsonNumber>()) return number->value;
  object.fail(key, "is no number");
}

std::vector<std::filesystem::path> paths_of(JsonObject& object, std::string_view key) {
  const auto texts = object.texts(key);
  return {texts.begin(), texts.end()};
}

ConvertModel model_of(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a model", FailureKind::usage);
  ConvertModel model;
  model.model = object.text("model");
  model.from = object.try_text("from").value_or("");
  model.code = object.try_text("code").value_or("");
  model.dummy = paths_of(object, "dummy");
  model.data = paths_of(object, "data");
  model.samples = object.try_uint("samples").value_or(0);
  model.input_names = object.texts("input_names");
  model.output_names = object.texts("output_names");
  object.finish();
  return model;
}

Json json_of(const ConvertedModel& model) {
  return {{"name", model.name},
          {"file", text_or_null(model.file)},
          {"verdict", model.verdict},
          {"findings", model.findings},
          {"notes", model.notes},
          {"max_abs", model.max_abs ? Json(*model.max_abs) : Json()},
          {"noise", model.noise ? Json(*model.noise) : Json()},
          {"latency", model.latency}};
}

}  // namespace

ConvertRecord convert(Session& session, const ConvertRequest& request, EventSink& events, std::stop_token stop) {
  return make_conversion(caller_of(session), request, events, stop);
}

ConversionCheckRecord check_conversion(Session& session, const ConversionCheckRequest& request, EventSink&,
                                       std::stop_token stop) {
  return look_at_conversion(session.settings(), request, stop);
}

Json json_of(const ConvertRecord& record) {
  Json models = Json::array();
  for (const ConvertedModel& model : record.models) models.push_back(json_of(model));
  return {{"schema", 1},
          {"name", record.name},
          {"manifest", text_or_null(record.manifest)},
          {"path", text_or_null(record.path.native())},
          {"verdict", text_or_null(record.verdict)},
          {"network", text_or_null(record.isolation)},
          {"key", record.key.prefixed()},
          {"was_there", record.was_there},
          {"models", std::move(models)},
          {"seconds", record.seconds},
          {"exit", record.exit}};
}

Json json_of(const ConversionCheckRecord& record) {
  return {{"schema", 1},
          {"name", record.name},
          {"manifest", text_or_null(record.manifest)},
          {"verdict", text_or_null(record.verdict)},
          {"found", text_or_null(record.found)},
          {"touched", record.touched},
          {"unchecked", record.unchecked},
          {"files", record.files},
          {"compared", record.compared},
          {"exit", record.exit}};
}

std::string to_json(const ConvertRecord& record) { return text_of(json_of(record)); }
std::string to_json(const ConversionCheckRecord& record) { return text_of(json_of(record)); }

Json call_convert(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  ConvertRequest asked;
  if (const JsonValue::Array* const models = request.try_array("models")) {
    for (const JsonValue& model : *models) asked.models.push_back(model_of(model, request.origin()));
  }
  asked.opset = request.try_uint("opset");
  asked.stochastic = request.try_text("stochastic").value_or("");
  asked.absolute = try_figure(request, "absolute");
  asked.relative = try_figure(request, "relative");
  asked.precision = request.try_text("precision").value_or("");
  asked.seed = request.try_uint("seed").value_or(0);
  asked.merge = request.flag("merge");
  asked.fixed_batch = request.flag("fixed_batch");
  asked.as = request.try_text("as").value_or("");
  asked.memory_bytes = request.try_size("memory").value_or(0);
  asked.time = try_seconds(request, "time").value_or(asked.time);
  asked.dry_run = request.flag("dry_run");
  asked.trust = request.try_text("trust").value_or("");
  asked.environment = environment_in(request);
  request.finish();
  return json_of(convert(session, asked, events, std::move(stop)));
}

Json call_convert_check(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  ConversionCheckRequest asked;
  asked.name = request.text("name");
  asked.environment = environment_in(request);
  request.finish();
  return json_of(check_conversion(session, asked, events, std::move(stop)));
}

}  // namespace sabath
