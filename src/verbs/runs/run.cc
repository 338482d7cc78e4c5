#include "sabath/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "fields/request.h"
#include "harness/assets.h"
#include "harness/conduct.h"
#include "harness/consent.h"
#include "harness/data_code.h"
#include "harness/environment.h"
#include "harness/places.h"
#include "harness/resolved_run.h"
#include "harness/staging.h"
#include "sabath/comm.h"
#include "sabath/error.h"
#include "session/caller_of.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

Consent consent_to_graph() {
  Consent consent;
  consent.verdict.by = "no code";
  return consent;
}

// A run starts ranks of its own.
ResolvedRun resolve_alone(const RunCall& call) {
  if (const Comm* ranks = call.caller.ranks; ranks != nullptr && ranks->size() > 1) {
    throw Error(FailureKind::usage, fmt::format("a run is one process's, not that of {} ranks", ranks->size()),
                "call it from a session without ranks: it starts the ranks of its programs");
  }
  ResolvedRun run = resolve_run(call);
  if (!call.request.stage_record.empty() && !run.dataset) {
    throw Error(FailureKind::usage, option_text("stage_record") + " is of a dataset, and this run has none",
                "leave it out");
  }
  return run;
}

fs::path directory_of(const ResolvedRun& run, const fs::path& place, const Variant& variant) {
  return run.is_sweep() ? place / variant.name : place;
}

RunResult result_of(Conducted conducted, const Variant& variant) {
  RunRecord& record = conducted.record;
  return {conducted.directory, std::move(record.state), record.exit,          record.signal,
          variant.config,      record.times.train,      /*done_before=*/false};
}

Json json_of_result(const RunResult& result) {
  if (result.done_before) {
    return {{"path", result.path.string()}, {"state", result.state}, {"exit", *result.exit}, {"done_before", true}};
  }
  return {{"path", result.path.string()},
          {"state", result.state},
          {"exit", result.exit ? Json(*result.exit) : Json(nullptr)},
          {"signal", result.signal ? Json(*result.signal) : Json(nullptr)},
          {"config", Json(result.config)},
          {"seconds", result.seconds ? Json(*result.seconds) : Json(nullptr)}};
}

Json json_of_foreseen(const ForeseenRun& run, bool has_code) {
  Json steps = Json::array(), variables = Json::object(), assets = Json::array();
  for (const ForeseenStep& step : run.steps) steps.push_back({{"argv", step.argv}, {"ranks", step.ranks}});
  for (const auto& [name, value] : run.variables) variables[name] = value;
  for (const ForeseenAsset& asset : run.assets) {
    assets.push_back({{"name", asset.name}, {"path", asset.path}, {"present", asset.present}});
    if (!asset.code.empty()) assets.back()["loads"] = {{"by", text_or_null(asset.read_by)}, {"found", asset.code}};
  }
  return {{"directory", run.directory.string()},
          {"source", has_code ? Json((run.directory / "source").string()) : Json(nullptr)},
          {"steps", std::move(steps)},
          {"config", Json(run.config)},
          {"modules", run.modules},
          {"variables", std::move(variables)},
          {"assets", std::move(assets)}};
}

ForeseenRun foresee_one(const RunCall& call, const ResolvedRun& run, const Variant& variant, const RunAssets& assets,
                        const RunEnvironment& environment, const fs::path& directory) {
  ForeseenRun foreseen;
  foreseen.directory = directory;
  const std::vector<RunStep> steps = steps_of(call, run, variant, assets, environment, directory);
  for (const RunStep& step : steps) foreseen.steps.push_back({step.argv, step.ranks});
  foreseen.config = variant.config;
  foreseen.modules = environment.modules;
  Json variables = to_json(environment, call.request.environment, run)["variables"];
  for (const auto& [name, value] : own_variables(environment, steps, directory)) variables[name] = value;
  for (const auto& [name, value] : variables.items()) foreseen.variables.emplace_back(name, value.get<std::string>());
  for (const RunAsset& asset : assets.all) {
    foreseen.assets.push_back({asset.name, asset.path, asset.warm, {}, {}});
    if (!asset.loads) continue;
    foreseen.assets.back().code = asset.loads->found;
    foreseen.assets.back().read_by = asset.loads->by;
  }
  return foreseen;
}

RunRequest run_request_in(JsonObject& asked) {
  RunRequest request;
  const auto take = [&](std::string_view key, auto& text) {
    if (auto given = asked.try_text(key)) text = std::move(*given);
  };
  request.model = asked.text("model");
  take("dataset", request.dataset);
  take("run_set", request.run_set);
  request.settings = asked.texts("set");
  take("set_from", request.settings_file);
  request.arguments = asked.texts("arguments");
  take("mode", request.mode);
  take("engine", request.engine);
  request.inputs = asked.texts("input");
  take("from", request.from);
  take("run_dir", request.directory);
  take("at", request.stage);
  take("stage_record", request.stage_record);
  take("env", request.requirements);
  take("launcher", request.launcher);
  take("container", request.container);
  take("site", request.site);
  take("verify", request.verify);
  if (asked.flag("no_verify")) {
    if (request.verify == "full") asked.fail("no_verify", "and a full verification exclude each other");
    request.verify = "none";
  }
  request.no_fetch = asked.flag("no_fetch");
  take("trust", request.trust);
  request.ranks = asked.try_uint("ranks");
  request.nodes = asked.try_uint("nodes");
  if (const auto grace_s = asked.try_uint("grace")) {
    request.grace = std::chrono::seconds(std::min<std::uint64_t>(*grace_s, std::numeric_limits<int>::max()));
  }
  request.environment = environment_in(asked);
  return request;
}

}  // namespace

RunsRecord run(Session& session, const RunRequest& request, EventSink& events, std::stop_token stop) {
  const RunCall call{caller_of(session), request, events, std::move(stop)};
  const ResolvedRun run = resolve_alone(call);
  RunsRecord record;
  record.path = place_of(call, run);
  // A graph is data, and so are the samples that it is given: no code of theirs runs.
  const Consent consent = run.by_ort ? consent_to_graph() : ask_consent(call, run);
  RunEnvironment environment = prepare_environment(call, run, true);
  RunAssets assets = bring_assets(call, run);
  if (!run.by_ort) {
    check_consent(call, run, consent, assets.all);
    ask_data_consent(call, run, consent, assets);
  }
  if (!assets.from.empty()) environment.variables["SABATH_FROM"] = assets.from;
  if (!request.stage_record.empty()) assets.times.stage = staging_seconds(request.stage_record, assets.all.back());
  for (const Variant& variant : run.variants) {
    const fs::path directory = directory_of(run, record.path, variant);
    if (run.is_sweep() && done_before(directory)) {
      call.say(fmt::format("{} is done already", variant.name));
      record.runs.push_back({directory, "finished", 0, {}, variant.config, {}, true});
      continue;
    }
    Conducted conducted = conduct(call, run, variant, assets, environment, directory, consent);
    if (record.exit == 0 || call.stop.stop_requested()) record.exit = conducted.exit;
    record.runs.push_back(result_of(std::move(conducted), variant));
    if (call.stop.stop_requested()) break;
  }
  return record;
}

RunForecast foresee(Session& session, const RunRequest& request, EventSink& events, std::stop_token stop) {
  const RunCall call{caller_of(session), request, events, std::move(stop), true};
  const ResolvedRun run = resolve_alone(call);
  RunAssets assets = foresee_assets(call, run);
  const Consent consent =
      run.by_ort ? consent_to_graph() : foresee_consent(session.settings(), request.environment, run.model, run.steps);
  RunEnvironment environment = prepare_environment(call, run, !consent.verdict.by.empty());
  if (!assets.from.empty()) environment.variables["SABATH_FROM"] = assets.from;
  const fs::path place = place_of(call, run);
  RunForecast forecast;
  forecast.to_fetch = assets.to_fetch;
  forecast.code = assets.source;
  if (!run.by_ort) foresee_data_consent(call, run, consent, assets);
  forecast.trust = {consent.verdict.by,    consent.code.origin,  consent.code.commit, consent.code.digest.prefixed(),
                    text_of(consent.code), consent.code.commands};
  forecast.copies_code = !assets.source.empty() && uses_source(run.steps);
  for (const Variant& variant : run.variants) {
    const fs::path directory = directory_of(run, place, variant);
    forecast.runs.push_back(foresee_one(call, run, variant, assets, environment, directory));
  }
  return forecast;
}

Json json_of(const RunsRecord& record) {
  Json runs = Json::array();
  for (const RunResult& result : record.runs) runs.push_back(json_of_result(result));
  return {{"schema", 1}, {"path", record.path.string()}, {"runs", std::move(runs)}, {"exit", record.exit}};
}

Json json_of(const RunForecast& record) {
  Json runs = Json::array();
  for (const ForeseenRun& run : record.runs) runs.push_back(json_of_foreseen(run, !record.code.empty()));
  return {{"schema", 1},
          {"dry_run", true},
          {"to_fetch", record.to_fetch},
          {"trust",
           {{"by", text_or_null(record.trust.by)},
            {"origin", text_or_null(record.trust.origin)},
            {"commit", text_or_null(record.trust.commit)},
            {"digest", text_or_null(record.trust.digest)},
            {"starts", record.trust.starts}}},
          {"runs", std::move(runs)},
          {"exit", record.exit}};
}

std::string to_json(const RunsRecord& record) { return text_of(json_of(record)); }
std::string to_json(const RunForecast& record) { return text_of(json_of(record)); }

Json call_run(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const RunRequest request = run_request_in(asked);
  const bool dry_run = asked.flag("dry_run");
  asked.finish();
  return dry_run ? json_of(foresee(session, request, events, std::move(stop)))
                 : json_of(run(session, request, events, std::move(stop)));
}

}  // namespace sabath
