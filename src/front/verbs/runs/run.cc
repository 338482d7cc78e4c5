#include "sabath/verbs/run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "harness/assets.h"
#include "harness/conduct.h"
#include "harness/consent.h"
#include "harness/data_code.h"
#include "harness/environment.h"
#include "harness/packed_choice.h"
#include "harness/places.h"
#include "harness/resolved_run.h"
#include "harness/staging.h"
#include "packed/activation.h"
#include "sabath/comm.h"
#include "sabath/error.h"
#include "session/caller_of.h"
#include "verbs/runs/run_asked.h"
#include "verbs/runs/run_fields.h"
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

ForeseenRun foresee_one(const RunCall& call, const ResolvedRun& run, const Variant& variant, const RunAssets& assets,
                        const RunEnvironment& environment, const fs::path& directory) {
  ForeseenRun foreseen;
  foreseen.directory = directory;
  if (!assets.source.empty()) foreseen.source = directory / "source";
  const std::vector<RunStep> steps = steps_of(call, run, variant, assets, environment, directory);
  for (const RunStep& step : steps) foreseen.steps.push_back({step.argv, step.ranks});
  const std::vector<RunStep> own = check_steps_of(run, variant, assets, environment, directory);
  auto next = own.begin();
  for (const RecipeCheck& check : run.model.requirements.checks) {
    if (call.request.checks == "none") break;
    foreseen.checks.push_back(
        {check.name, expected_of(check), check.argv.empty() ? std::vector<std::string>() : (next++)->argv});
  }
  foreseen.config = variant.config;
  foreseen.modules = environment.modules;
  Json variables = to_json(environment, call.request.environment, run)["variables"];
  for (const auto& [name, value] : own_variables(environment, steps, directory)) variables[name] = value;
  for (const char* name : variables_of_other_environments)  // empty is as good as unset
    if (environment.packed && call.request.environment.get(name) && !environment.variables.contains(name))
      foreseen.variables.emplace_back(name, "");
  for (const auto& [name, value] : variables.items()) foreseen.variables.emplace_back(name, value.get<std::string>());
  for (const RunAsset& asset : assets.all) {
    foreseen.assets.push_back({asset.name, asset.path, asset.warm, {}, {}});
    if (!asset.loads) continue;
    foreseen.assets.back().code = asset.loads->found;
    foreseen.assets.back().read_by = asset.loads->by;
  }
  return foreseen;
}

}  // namespace

RunsRecord run(Session& session, const RunRequest& request, EventSink& events, std::stop_token stop) {
  const RunRequest settled = settled_request(request);
  const RunCall call{caller_of(session), settled, events, std::move(stop)};
  const ResolvedRun run = resolve_alone(call);
  RunsRecord record;
  record.path = place_of(call, run);
  // A graph is data, and so are the samples that it is given: no code of theirs runs.
  const Consent consent = run.by_ort ? consent_to_graph() : ask_consent(call, run);
  RunAssets begun = bring_packed(call, run);
  RunEnvironment environment = prepare_environment(call, run, true, begun.packed);
  RunAssets assets = bring_assets(call, run, std::move(begun));
  if (!run.by_ort) {
    check_consent(call, run, consent, assets.all);
    ask_data_consent(call, run, consent, assets);
  }
  if (!assets.from.empty()) environment.variables["SABATH_FROM"] = assets.from;
  if (!request.stage_record.empty()) assets.times.stage = staging_seconds(request.stage_record, assets.all.back());
  ChecksMade checked;
  for (const Variant& variant : run.variants) {
    const fs::path directory = directory_of(run, record.path, variant);
    if ((run.is_sweep() || request.again) && done_before(directory)) {
      call.say(fmt::format("{} is done already", run.is_sweep() ? variant.name : directory.string()));
      record.runs.push_back({directory, "finished", 0, {}, variant.config, {}, true});
      continue;
    }
    Conducted conducted = conduct(call, run, variant, assets, environment, directory, consent, checked);
    if (record.exit == 0 || call.stop.stop_requested()) record.exit = conducted.exit;
    record.runs.push_back(result_of(std::move(conducted), variant));
    if (call.stop.stop_requested()) break;
  }
  return record;
}

RunForecast foresee(Session& session, const RunRequest& request, EventSink& events, std::stop_token stop) {
  const RunRequest settled = settled_request(request);
  const RunCall call{caller_of(session), settled, events, std::move(stop), true};
  const ResolvedRun run = resolve_alone(call);
  RunAssets assets = foresee_assets(call, run);
  const Consent consent =
      run.by_ort ? consent_to_graph() : foresee_consent(session.settings(), request.environment, run.model, run.steps);
  RunEnvironment environment = prepare_environment(call, run, !consent.verdict.by.empty(), assets.packed);
  if (!assets.from.empty()) environment.variables["SABATH_FROM"] = assets.from;
  const fs::path place = place_of(call, run);
  RunForecast forecast;
  forecast.to_fetch = assets.to_fetch;
  forecast.code = assets.source;
  if (!run.by_ort) foresee_data_consent(call, run, consent, assets);
  forecast.trust = {consent.verdict.by,    consent.code.origin,  consent.code.commit, consent.code.digest.prefixed(),
                    text_of(consent.code), consent.code.commands};
  forecast.copies_code = !assets.source.empty() && uses_source(run.all_steps());
  for (const Variant& variant : run.variants) {
    const fs::path directory = directory_of(run, place, variant);
    forecast.runs.push_back(foresee_one(call, run, variant, assets, environment, directory));
  }
  return forecast;
}

RunRequest run_request_of(const RunAsked& asked) {
  RunRequest request = asked.run;
  if (!asked.no_verify) return request;
  if (request.verify == "full") {
    throw Error(FailureKind::usage,
                fmt::format("{} and a full verification exclude each other", option_text("no_verify")),
                "leave out one of them");
  }
  request.verify = "none";
  return request;
}

template <>
struct Described<RunAsked> {
  using Of = RunAsked;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("model", run.model, .help = "a model or workflow", .required = true, .argument = "MODEL"),
      SABATH_FIELD_AS("dataset", run.dataset, .help = "what it runs on (default: the recipe's)", .argument = "DATASET"),
      SABATH_FIELD(dry_run, .help = "print exactly what would run, and touch nothing", .letter = 'n'),
      SABATH_FIELD_AS("set", run.settings, .help = "a setting of the recipe; KEY=A,B makes one run for each value",
                      .value = "KEY=VALUE"),
      SABATH_FIELD_AS("set_from", run.settings_file, .help = "settings from a JSON or YAML file; --set wins",
                      .value = "FILE"),
      SABATH_FIELD_AS("mode", run.mode, .help = "which run set of the recipe", .words = "train|infer"),
      SABATH_FIELD_AS(
          "engine", run.engine,
          .help = "run the model's ONNX graph in ONNX Runtime, and no step of a recipe; MODEL may be NAME:PATH",
          .words = "ort"),
      SABATH_FIELD_AS("input", run.inputs, .help = "of --engine ort: the samples, in the dataset if one is named",
                      .value = "[NAME=]FILE"),
      SABATH_FIELD_AS("from", run.from,
                      .help = "an asset that the program starts from, such as weights: SABATH_FROM, {from.path}",
                      .value = "ASSET"),
      SABATH_FIELD_AS("run_set", run.run_set, .help = "the run set with this key (default: the dataset's)",
                      .value = "KEY"),
      SABATH_FIELD_AS("run_dir", run.directory, .help = "where the record is made (default: run_MODEL_DATASET_ID here)",
                      .value = "DIR"),
      SABATH_FIELD_AS("at", run.stage, .help = "read the dataset that was staged at DIR (default: SABATH_STAGE)",
                      .value = "DIR"),
      SABATH_FIELD_AS("stage_record", run.stage_record, .help = "what `sabath stage --json` printed: for the record",
                      .value = "FILE"),
      SABATH_FIELD_AS("env", run.requirements,
                      .help =
                          "NAME: in this packed environment (docs/environments.md). Else modules and packages that the "
                          "recipe needs: ignore them, warn (default), refuse, or make them",
                      .value = "NAME|none|warn|check|create"),
      SABATH_FIELD_AS("checks", run.checks,
                      .help = "what the recipe asks of the machine first: launch nothing if it is not met (default), "
                              "go on, or do not ask",
                      .words = "refuse|warn|none"),
      SABATH_FIELD_AS("launcher", run.launcher,
                      .help = "auto, direct, mpirun, srun, flux, or another one of the site profile", .value = "NAME"),
      SABATH_FIELD_AS("container", run.container, .help = "run in a container: apptainer, podman, charliecloud",
                      .value = "KIND:IMAGE"),
      SABATH_FIELD_AS("site", run.site, .help = "the site profile (default: SABATH_SITE, else by the host's name)",
                      .value = "NAME"),
      SABATH_FIELD_AS(
          "lock", run.lock,
          .help = "load the modules that this run loaded, a directory or its run.json, in the same versions",
          .value = "RUN"),
      SABATH_FIELD_AS("ranks", run.ranks, .help = "ranks of the steps that are parallel", .maximum = 1U << 20U,
                      .value = "N"),
      SABATH_FIELD_AS("nodes", run.nodes, .help = "nodes that they are spread over", .maximum = 1U << 20U,
                      .value = "N"),
      SABATH_FIELD_AS("verify", run.verify,
                      .help = "before the launch read what changed since it was hashed (default), or everything",
                      .words = "changed|full|none", .value = "changed|full"),
      SABATH_FIELD(no_verify, .help = "launch on unverified bytes; the record says so"),
      SABATH_FIELD_AS("trust", run.trust,
                      .help = "run code that is not trusted yet: this time, always this code, or all of its origin "
                              "(docs/trust.md)",
                      .words = "once|commit|origin"),
      SABATH_FIELD_AS("no_fetch", run.no_fetch, .help = "run only on what is here"),
      SABATH_FIELD_AS("again", run.again,
                      .help = "of --run-dir: what is finished there stays; an unfinished run is moved aside"),
      SABATH_FIELD_AS("grace", run.grace, .help = "what the program has between SIGTERM and SIGKILL (10)",
                      .unit = "seconds", .maximum = 86'400, .value = "SECONDS"),
      SABATH_FIELD_AS("arguments", run.arguments, .help = "arguments for the recipe's last step", .argument = "-- ARG"),
      SABATH_FIELD_AS("environment", run.environment,
                      .help = "the variables that programs start from; absent: those of this process", .hidden = true),
  };
};

std::string to_json(const RunsRecord& record) { return record_text(record); }
std::string to_json(const RunForecast& record) { return record_text(record); }

Json call_run(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  const auto asked = request_in<RunAsked>(object);
  const RunRequest request = run_request_of(asked);
  return asked.dry_run ? record_json(foresee(session, request, events, std::move(stop)))
                       : record_json(run(session, request, events, std::move(stop)));
}

extern constexpr LibraryVerb run_call = described<RunAsked, RunsRecord, RunForecast>("run", call_run);

}  // namespace sabath
