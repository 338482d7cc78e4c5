#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/render.h"
#include "cli/run_assets.h"
#include "cli/run_conduct.h"
#include "cli/run_environment.h"
#include "cli/run_places.h"
#include "cli/run_request.h"
#include "cli/run_staging.h"
#include "cli/verbs.h"
#include "run/execution.h"
#include "run/run_directory.h"
#include "sabath/error.h"

namespace sabath::cli {
namespace {
namespace cmd_run {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

fs::path directory_of(const RunRequest& request, const fs::path& place, const Variant& variant) {
  return request.is_sweep() ? place / variant.name : place;
}

Json asset_records(const RunAssets& assets) {
  Json list = Json::array();
  for (const RunAsset& asset : assets.all) {
    list.push_back({{"name", asset.name}, {"path", asset.path}, {"present", asset.warm}});
  }
  return list;
}

// The same as a person would type it: what is fetched, what is copied, what is set, what runs.
std::string script_of(const RunRequest& request, const RunAssets& assets, const Json& environment,
                      const std::vector<RunStep>& steps, const fs::path& directory) {
  std::string text;
  for (const std::string& name : assets.to_fetch) text += fmt::format("sabath fetch {}\n", name);
  text += shell_line({"mkdir", "-p", (directory / "work").string(), (directory / "output").string()}) + "\n";
  if (!assets.source.empty() && uses_source(request.steps)) {
    text += shell_line({"cp", "-r", "--reflink=auto", assets.source, (directory / "source").string()}) + "\n";
  }
  text += shell_line({"cd", (directory / "work").string()}) + "\n";
  for (const auto& module : environment["modules"]) text += shell_line({"module", "load", module}) + "\n";
  for (const auto& [name, value] : environment["variables"].items()) {
    text += fmt::format("export {}={}\n", name, shell_line({value.get<std::string>()}));
  }
  for (const RunStep& step : steps) text += shell_line(step.argv) + "\n";
  return text;
}

int foresee(Context& context, const RunRequest& request, const RunOptions& options) {
  const RunAssets assets = foresee_assets(context, request, options);
  const RunEnvironment environment = prepare_environment(context, request, options);
  const Json recorded = to_json(environment, context.environment, request);
  const fs::path place = place_of(request, options);
  Json runs = Json::array();
  for (const Variant& variant : request.variants) {
    const fs::path directory = directory_of(request, place, variant);
    const auto steps = steps_of(request, variant, assets, environment, options, directory);
    Json environment_record = recorded;
    for (const auto& [name, value] : own_variables(environment, steps, directory))
      environment_record["variables"][name] = value;
    if (!context.presentation.json) {
      const std::string gap = runs.empty() ? "" : "\n";
      context.out.print(gap + script_of(request, assets, environment_record, steps, directory));
    }
    Json step_records = Json::array();
    for (const RunStep& step : steps) step_records.push_back({{"argv", step.argv}, {"ranks", step.ranks}});
    runs.push_back({{"directory", directory.string()},
                    {"source", assets.source.empty() ? Json(nullptr) : Json((directory / "source").string())},
                    {"steps", step_records},
                    {"config", Json(variant.config)},
                    {"modules", environment.modules},
                    {"variables", environment_record["variables"]},
                    {"assets", asset_records(assets)}});
  }
  if (context.presentation.json) {
    context.out.record({{"schema", 1}, {"dry_run", true}, {"to_fetch", assets.to_fetch}, {"runs", runs}, {"exit", 0}});
  }
  return 0;
}

int run_all(Context& context, const RunRequest& request, const RunOptions& options) {
  const fs::path place = place_of(request, options);
  const RunEnvironment environment = prepare_environment(context, request, options);
  RunAssets assets = bring_assets(context, request, options);
  if (!options.stage_record.empty()) assets.times.stage = staging_seconds(options.stage_record, assets.all.back());
  Json runs = Json::array();
  int exit = 0;
  for (const Variant& variant : request.variants) {
    const fs::path directory = directory_of(request, place, variant);
    if (request.is_sweep() && done_before(directory)) {
      context.say(fmt::format("{} is done already", variant.name));
      runs.push_back({{"path", directory.string()}, {"state", "finished"}, {"exit", 0}, {"done_before", true}});
      continue;
    }
    const Conducted one = conduct(context, request, variant, assets, environment, options, directory);
    if (exit == 0 || context.stop.stop_requested()) exit = one.exit;
    runs.push_back({{"path", directory.string()},
                    {"state", one.record.state},
                    {"exit", one.record.exit ? Json(*one.record.exit) : Json(nullptr)},
                    {"signal", one.record.signal ? Json(*one.record.signal) : Json(nullptr)},
                    {"config", Json(variant.config)},
                    {"seconds", *one.record.times.train}});
    if (context.stop.stop_requested()) break;
  }
  if (context.presentation.json) {
    context.out.record({{"schema", 1}, {"path", place.string()}, {"runs", runs}, {"exit", exit}});
  } else {
    context.out.print(place.string() + "\n");
  }
  return exit;
}

int run(Context& context, RunOptions& options) {
  if (options.no_verify && options.verify == "full") {
    throw Error(FailureKind::usage, "--no-verify and --verify full exclude each other", "leave out one of them");
  }
  const RunRequest request = resolve(context, options);
  if (!options.stage_record.empty() && !request.dataset) {
    throw Error(FailureKind::usage, "--stage-record is of a dataset, and this run has none", "leave it out");
  }
  return options.dry_run ? foresee(context, request, options) : run_all(context, request, options);
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<RunOptions>();
  set.argument("MODEL", options->model, "a model or workflow");
  set.optional_argument("DATASET", options->dataset, "what it runs on (default: the recipe's)");
  set.flag("-n,--dry-run", options->dry_run, "print exactly what would run, and touch nothing");
  set.option("--set", "KEY=VALUE", options->settings, "a setting of the recipe; KEY=A,B makes one run for each value");
  set.option("--set-from", "FILE", options->settings_file, "settings from a JSON or YAML file; --set wins");
  set.choice("--mode", {"train", "infer"}, options->mode, "which run set of the recipe");
  set.option("--run-set", "KEY", options->run_set, "the run set with this key, whatever the dataset is called");
  set.option("--run-dir", "DIR", options->run_dir, "where the record is made (default: run_MODEL_DATASET_ID here)");
  set.option("--at", "DIR", options->stage, "read the dataset that was staged at DIR (default: SABATH_STAGE)");
  set.option("--stage-record", "FILE", options->stage_record, "what `sabath stage --json` printed: for the record");
  set.choice("--env", {"none", "warn", "check", "create"}, options->env,
             "modules and packages that the recipe needs: ignore them, warn (default), refuse, or make them");
  set.option("--launcher", "NAME", options->launcher,
             "auto, direct, mpirun, srun, flux, or another one of the site profile");
  set.option("--container", "KIND:IMAGE", options->container, "run in a container: apptainer, podman, charliecloud");
  set.option("--site", "NAME", options->site, "the site profile (default: SABATH_SITE, else by the host's name)");
  set.count("--ranks", "N", 1u << 20u, options->ranks, "ranks of the steps that are parallel");
  set.count("--nodes", "N", 1u << 20u, options->nodes, "nodes that they are spread over");
  set.choice("--verify", {"changed", "full"}, options->verify,
             "before the launch read what changed since it was hashed (default), or everything");
  set.flag("--no-verify", options->no_verify, "launch on unverified bytes; the record says so");
  set.flag("--no-fetch", options->no_fetch, "run only on what is here");
  set.count("--grace", "SECONDS", 86400, options->grace_s, "what the program has between SIGTERM and SIGKILL (10)");
  set.rest("ARG", options->arguments, "arguments for the recipe's last step");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_run
}  // namespace

constexpr Verb run_verb{
    "run",
    "run a model on verified bytes, and keep a record of it",
    "sabath run cosmoflow-nano                        fetch what is not here, verify, train\n"
    "sabath run cosmoflow-nano --set lr=0.01,0.001    one run for each value\n"
    "sabath run cosmoflow --ranks 8 --nodes 2         in a batch job, by its launcher\n"
    "sabath run ptychonn -n                           what would run\n"
    "sabath run cosmoflow-nano -- --seed 7            more arguments for the program",
    "The record is a directory (docs/runs.md), whose path is printed at the end; sabath report reads it. The program "
    "runs "
    "with its own copy of the source; what is in the store is never changed. Exit code 7 when the data are not what "
    "was "
    "verified, 11 when the program failed, 130 or 143 when it was stopped. docs/running.md has the rest.",
    true,
    cmd_run::declare,
};

}  // namespace sabath::cli
