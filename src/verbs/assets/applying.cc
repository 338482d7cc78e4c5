#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apply/built_in.h"
#include "apply/derive.h"
#include "base/derivation.h"
#include "base/wording.h"
#include "fields/request.h"
#include "holdings/holding.h"
#include "holdings/lineage.h"
#include "recipe/supporting.h"
#include "sabath/apply.h"
#include "sabath/error.h"
#include "session/caller_of.h"
#include "verbs/records.h"

namespace sabath {
namespace {

// A value of an argument as JSON has it.
Json value_json(ArgumentType type, const std::string& text) {
  if (type == ArgumentType::text) return text;
  return Json::parse(text);  // right_value() wrote it
}

Json script_json(const ListedScript& listed) {
  const SupportingScript& script = listed.script;
  Json arguments = Json::array();
  for (const ScriptArgument& argument : script.arguments) {
    Json choices = Json::array();
    for (const std::string& choice : argument.choices) choices.push_back(value_json(argument.type, choice));
    arguments.push_back({{"name", argument.name},
                         {"type", type_name(argument.type)},
                         {"default", argument.fallback ? value_json(argument.type, *argument.fallback) : Json()},
                         {"required", !argument.fallback},
                         {"choices", std::move(choices)},
                         {"help", text_or_null(argument.help)}});
  }
  return {{"id", script.id},
          {"description", text_or_null(script.description)},
          {"built_in", listed.built_in},
          {"per", script.per_file ? "file" : "asset"},
          {"inputs", script.inputs},
          {"outputs", script.outputs},
          {"argv", script.argv},
          {"source", script.source ? Json(script.source->text()) : Json()},
          {"tools", listed.tools},
          {"arguments", std::move(arguments)}};
}

Json failure_json_of(const ApplyFailure& failed) {
  Json json = failure_json(failed.failure);
  json["path"] = text_or_null(failed.path);
  json["script_exit"] = failed.exit ? Json(*failed.exit) : Json();
  json["script_signal"] = failed.signal && *failed.signal != 0 ? Json(*failed.signal) : Json();
  json["last_lines"] = failed.last_lines;
  return json;
}

}  // namespace

SupportingRecord supporting(Session& session, const SupportingRequest& request, EventSink&, std::stop_token) {
  SupportingRecord record;
  if (!request.name.empty()) {
    const Catalogue catalogue = make_catalogue(session.settings());
    const Recipe recipe = catalogue.find(request.name, std::nullopt);
    record.name = recipe.name;
    for (const SupportingScript& script : origin_of(catalogue, recipe).value_or(recipe).supporting)
      record.scripts.push_back({script, false, {}});
  }
  for (const Builtin* one : builtins()) record.scripts.push_back({script_of(*one), true, tools_of(*one)});
  return record;
}

ApplyRecord apply(Session& session, const ApplyRequest& request, EventSink& events, std::stop_token stop) {
  return derive(caller_of(session), request, events, std::move(stop));
}

Json json_of(const SupportingRecord& record) {
  Json scripts = Json::array();
  for (const ListedScript& listed : record.scripts) scripts.push_back(script_json(listed));
  return {{"schema", 1}, {"name", text_or_null(record.name)}, {"scripts", std::move(scripts)}, {"exit", record.exit}};
}

Json json_of(const ApplyRecord& record) {
  Json failures = Json::array();
  for (const ApplyFailure& failed : record.failures) failures.push_back(failure_json_of(failed));
  const bool known = record.derivation.key != Sha256{};
  return {{"schema", 1},
          {"name", text_or_null(record.name)},
          {"manifest", text_or_null(record.manifest)},
          {"path", text_or_null(record.path.native())},
          {"packed", record.packed},
          {"derived", known ? json_of(record.derivation) : Json()},
          {"command", record.command},
          {"was_there", record.was_there},
          {"inputs", record.inputs},
          {"processed", record.processed},
          {"resumed", record.resumed},
          {"files", record.files},
          {"bytes", record.bytes},
          {"ranks", record.ranks},
          {"threads", record.threads},
          {"seconds", record.seconds},
          {"failures", std::move(failures)},
          {"exit", record.exit}};
}

std::string to_json(const SupportingRecord& record) { return text_of(json_of(record)); }
std::string to_json(const ApplyRecord& record) { return text_of(json_of(record)); }

Json call_supporting(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const SupportingRequest asked{request.try_text("name").value_or("")};
  request.finish();
  return json_of(supporting(session, asked, events, std::move(stop)));
}

Json call_apply(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  ApplyRequest asked;
  asked.name = request.text("name");
  asked.script = request.text("script");
  asked.arguments = request.texts("arguments");
  asked.as = request.try_text("as").value_or("");
  asked.in_place = request.try_text("in_place").value_or("");
  asked.threads = request.try_uint("threads");
  asked.memory_bytes = request.try_size("memory").value_or(0);
  asked.time = try_seconds(request, "time").value_or(std::chrono::seconds(0));
  asked.no_fetch = request.flag("no_fetch");
  asked.force = request.flag("force");
  asked.dry_run = request.flag("dry_run");
  asked.environment = environment_in(request);
  asked.trust = request.try_text("trust").value_or("");
  request.finish();
  return json_of(apply(session, asked, events, std::move(stop)));
}

}  // namespace sabath
