#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/told/run_display.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "run/commands.h"
#include "sabath/error.h"
#include "sabath/run.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_run {

struct Options {
  RunRequest request;
  std::string settings_file, directory, stage, stage_record;
  std::optional<std::uint64_t> grace_s;
  bool dry_run = false, no_verify = false;
};

// The run as commands that a user could type: fetches, copies, modules, variables, steps.
std::string script_of(const RunForecast& forecast, const ForeseenRun& run) {
  std::string text;
  for (const std::string& name : forecast.to_fetch) text += fmt::format("sabath fetch {}\n", name);
  const std::filesystem::path& directory = run.directory;
  text += shell_line({"mkdir", "-p", (directory / "work").string(), (directory / "output").string()}) + "\n";
  if (forecast.copies_code) {
    text += shell_line({"cp", "-r", "--reflink=auto", forecast.code.string(), (directory / "source").string()}) + "\n";
  }
  text += shell_line({"cd", (directory / "work").string()}) + "\n";
  for (const std::string& module : run.modules) text += shell_line({"module", "load", module}) + "\n";
  for (const auto& [name, value] : run.variables) text += fmt::format("export {}={}\n", name, shell_line({value}));
  for (const ForeseenStep& step : run.steps) text += shell_line(step.argv) + "\n";
  return text;
}

int show(Context& context, const RunForecast& forecast) {
  if (context.presentation.json) {
    context.out.record(json_of(forecast));
    return forecast.exit;
  }
  std::string text;
  if (forecast.trust.by.empty()) {
    text = "# not trusted yet: sabath run asks before it does this\n";
    std::string_view about = forecast.trust.about;
    for (std::size_t end = 0; (end = about.find('\n')) != about.npos; about.remove_prefix(end + 1))
      text += fmt::format("#   {}\n", about.substr(0, end));
    text += "\n";
  }
  for (const ForeseenAsset& asset : forecast.runs.front().assets) {
    if (!asset.code.empty() && asset.read_by.empty())
      text += fmt::format("# {} holds code that is not trusted yet: {}\n\n", asset.name, asset.code.front());
  }
  for (const ForeseenRun& run : forecast.runs) text += (text.empty() ? "" : "\n") + script_of(forecast, run);
  context.out.print(text);
  return forecast.exit;
}

int run(Context& context, Options& options) {
  if (options.no_verify && options.request.verify == "full") {
    throw Error(FailureKind::usage, "--no-verify and --verify full exclude each other", "leave out one of them");
  }
  RunRequest& request = options.request;
  if (options.no_verify) request.verify = "none";
  request.settings_file = options.settings_file;
  request.directory = options.directory;
  request.stage = options.stage;
  request.stage_record = options.stage_record;
  if (options.grace_s) request.grace = std::chrono::seconds(*options.grace_s);
  request.environment = context.environment;
  request.stop_signal = [&context] { return context.signals.received(); };
  Session session(context.configuration.session, context.ranks);
  RunDisplay display(context);
  if (can_ask(context))
    request.ask = [&](const std::string& about) { return ask_trust(context, request.model, about); };
  if (options.dry_run) return show(context, foresee(session, request, display, context.stop));
  const RunsRecord record = sabath::run(session, request, display, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else {
    context.out.print(record.path.string() + "\n");
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("MODEL", options->request.model, "a model or workflow");
  set.optional_argument("DATASET", options->request.dataset, "what it runs on (default: the recipe's)");
  set.flag("-n,--dry-run", options->dry_run, "print exactly what would run, and touch nothing");
  set.option("--set", "KEY=VALUE", options->request.settings,
             "a setting of the recipe; KEY=A,B makes one run for each value");
  set.option("--set-from", "FILE", options->settings_file, "settings from a JSON or YAML file; --set wins");
  set.choice("--mode", {"train", "infer"}, options->request.mode, "which run set of the recipe");
  set.choice("--engine", {"ort"}, options->request.engine,
             "run the model's ONNX graph in ONNX Runtime, and no step of a recipe; MODEL may be NAME:PATH");
  set.option("--input", "[NAME=]FILE", options->request.inputs,
             "of --engine ort: the samples, in the dataset if one is named");
  set.option("--from", "ASSET", options->request.from,
             "an asset that the program starts from, such as weights: SABATH_FROM, {from.path}");
  set.option("--run-set", "KEY", options->request.run_set, "the run set with this key (default: the dataset's)");
  set.option("--run-dir", "DIR", options->directory, "where the record is made (default: run_MODEL_DATASET_ID here)");
  set.option("--at", "DIR", options->stage, "read the dataset that was staged at DIR (default: SABATH_STAGE)");
  set.option("--stage-record", "FILE", options->stage_record, "what `sabath stage --json` printed: for the record");
  set.choice("--env", {"none", "warn", "check", "create"}, options->request.requirements,
             "modules and packages that the recipe needs: ignore them, warn (default), refuse, or make them");
  set.option("--launcher", "NAME", options->request.launcher,
             "auto, direct, mpirun, srun, flux, or another one of the site profile");
  set.option("--container", "KIND:IMAGE", options->request.container,
             "run in a container: apptainer, podman, charliecloud");
  set.option("--site", "NAME", options->request.site,
             "the site profile (default: SABATH_SITE, else by the host's name)");
  set.count("--ranks", "N", 1u << 20u, options->request.ranks, "ranks of the steps that are parallel");
  set.count("--nodes", "N", 1u << 20u, options->request.nodes, "nodes that they are spread over");
  set.choice("--verify", {"changed", "full"}, options->request.verify,
             "before the launch read what changed since it was hashed (default), or everything");
  set.flag("--no-verify", options->no_verify, "launch on unverified bytes; the record says so");
  set.choice("--trust", {"once", "commit", "origin"}, options->request.trust,
             "run code that is not trusted yet: this time, always this code, or all of its origin (docs/trust.md)");
  set.flag("--no-fetch", options->request.no_fetch, "run only on what is here");
  set.count("--grace", "SECONDS", 86400, options->grace_s, "what the program has between SIGTERM and SIGKILL (10)");
  set.rest("ARG", options->request.arguments, "arguments for the recipe's last step");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_run
}  // namespace

constexpr Verb run_verb{
    "run",
    "run a model on verified bytes, and keep a record of it",
    "sabath run cosmoflow-nano                        fetch what is not here, verify, train\n"
    "sabath run cosmoflow-nano --set lr=0.01,0.001    one run for each value\n"
    "sabath run cosmoflow-nano --from weights         go on from another asset, which the record names\n"
    "sabath run net --engine ort --input x.npy        its ONNX graph, with latencies\n"
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
