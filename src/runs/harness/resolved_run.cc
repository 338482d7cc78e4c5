#include "harness/resolved_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "base/companion.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "harness/packed_choice.h"
#include "holdings/holding.h"
#include "holdings/lineage.h"
#include "machine/site_choice.h"
#include "recipe/checks.h"
#include "run/guarded_process.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/profile_owner.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t profile_size_max = 1 << 20;

[[noreturn]] void refuse_content(const Catalogue& catalogue, const Recipe& dataset) {
  if (dataset.kind != AssetKind::dataset) {
    throw Error(FailureKind::usage,
                fmt::format("{} is content of the kind {}, and no model: it has no way to run", dataset.name,
                            kind_name(dataset.kind)),
                fmt::format("a step of a model's recipe uses it as {{asset.{0}}}; `{1} {0}` shows where its files are",
                            dataset.name, verb_text("path")));
  }
  std::vector<std::string> models;
  for (const Catalogue::Listed& listed : catalogue.all(AssetKind::model)) {
    if (!listed.recipe) continue;
    const auto trains_on = [&](const auto& set) { return set.first == dataset.name; };
    if (listed.recipe->default_dataset == dataset.name || std::ranges::any_of(listed.recipe->run, trains_on)) {
      models.push_back(listed.recipe->name);
    }
  }
  throw Error(FailureKind::usage, fmt::format("{} is a dataset: a run takes a model, then the dataset", dataset.name),
              models.empty() ? "no recipe here names a model that trains on it"
                             : fmt::format("models that train on it: {}", fmt::join(models, ", ")));
}

Recipe find_model(const Catalogue& catalogue, const std::string& name) {
  if (auto model = catalogue.try_find(name, AssetKind::model)) return std::move(*model);
  if (auto workflow = catalogue.try_find(name, AssetKind::workflow)) return std::move(*workflow);
  if (const auto content = catalogue.try_find(name, std::nullopt)) refuse_content(catalogue, *content);
  return catalogue.find(name, AssetKind::model);
}

// The store knows its content, and its recipe knew how it runs.
void refuse_held(const Catalogue& catalogue, const Recipe& model) {
  if (!catalogue.is_held(model)) return;
  const std::string& stood = model.metadata.at("recipe");
  throw Error(FailureKind::not_found,
              fmt::format("the store holds {}, and not how it runs: its recipe was at {}", model.name, stood),
              fmt::format("`{} {}` reads it there", verb_text("run"), shell_word(stood)));
}

// DATASET, or the key of a run set that is no dataset, as recipes of the original have them.
void choose_dataset(const Catalogue& catalogue, const RunCall& call, const RunSets& sets, ResolvedRun& run) {
  std::string wanted = call.request.run_set;
  if (call.request.dataset.empty()) {
    run.dataset = catalogue.dataset_of(run.model, sets);
    if (!run.dataset) {
      throw Error(FailureKind::usage, fmt::format("the recipe of {} names no dataset that is known", run.model.name),
                  fmt::format("name one: {} {} DATASET", verb_text("run"), run.model.name));
    }
  } else {
    run.dataset = catalogue.try_find(call.request.dataset, AssetKind::dataset);
    const auto is_key = [&](const auto& set) { return set.first == call.request.dataset; };
    if (!run.dataset && std::ranges::any_of(sets, is_key)) {
      wanted = call.request.dataset;
      run.dataset = catalogue.dataset_of(run.model, sets);
    }
    if (!run.dataset) run.dataset = catalogue.find(call.request.dataset, AssetKind::dataset);  // throws with a hint
  }
  // What runs on a dataset runs on what was derived of it; a set of its own name goes first.
  run.origin = origin_of(catalogue, *run.dataset);
  const auto is_its_own = [&](const auto& set) { return set.first == run.dataset->name; };
  const bool by_origin = run.origin && std::ranges::none_of(sets, is_its_own);
  run.steps = choose_set(run.model, sets, by_origin ? *run.origin : *run.dataset, wanted).second;
}

// The model's ONNX graph, which no code of its recipe runs.
void choose_graph(const Catalogue& catalogue, const RunCall& call, ResolvedRun& run) {
  const RunRequest& request = call.request;
  const auto colon = request.model.find(':');
  const std::string name = request.model.substr(0, colon);
  if (colon != request.model.npos) {
    const auto below = RelativePath::try_parse(request.model.substr(colon + 1));
    if (!below) throw Error(FailureKind::usage, printable(request.model, 4096) + " names no file of an asset");
    run.graph = below->text();
  }
  run.by_ort = true;
  auto model = catalogue.try_find(name, AssetKind::model);
  run.model = model ? std::move(*model) : catalogue.find(name, std::nullopt);
  run.model.config.clear();
  run.model.env_vars.clear();
  run.model.requirements = {};
  run.model.metrics.clear();
  if (!request.dataset.empty()) run.dataset = catalogue.find(request.dataset, AssetKind::dataset);
  if (request.inputs.empty()) {
    throw Error(FailureKind::usage, fmt::format("no samples for {} are named", run.model.name),
                fmt::format("{} FILE names them: in the dataset, if there is one", option_text("input")));
  }
  const auto refuse = [](bool given, std::string_view option) {
    if (given)
      throw Error(FailureKind::usage,
                  fmt::format("{} is of a recipe's steps, and {} ort runs none", option, option_text("engine")));
  };
  refuse(!request.from.empty(), option_text("from"));
  refuse(!request.run_set.empty(), option_text("run_set"));
  refuse(!request.container.empty(), option_text("container"));
  refuse(request.ranks.value_or(1) > 1, option_text("ranks"));
  refuse(request.nodes.value_or(1) > 1, option_text("nodes"));
}

std::vector<Variant> choose_variants(const RunCall& call, const ResolvedRun& run) {
  std::vector<std::string> known = config_keys(run.all_steps());
  if (run.by_ort) known = {"batch", "optimise", "threads"};
  for (const auto& [key, value] : run.model.config) {
    if (std::ranges::find(known, key) == known.end()) known.push_back(key);
  }
  Config config = run.model.config;
  if (!call.request.settings_file.empty()) {
    const auto text = try_read_text(call.request.settings_file, profile_size_max);
    if (!text) {
      throw Error(FailureKind::usage,
                  fmt::format("there is no file {}", printable(call.request.settings_file.string(), 4096)),
                  option_text("set_from") + " takes a JSON or YAML file of settings");
    }
    for (const auto& [key, value] : parse_config(*text, call.request.settings_file.string())) config[key] = value;
  }
  std::vector<sabath::Setting> settings;
  for (const std::string& text : call.request.settings) {
    sabath::Setting setting = parse_setting(text);
    std::erase_if(settings,
                  [&](const sabath::Setting& other) { return other.key == setting.key; });  // the last one counts
    settings.push_back(std::move(setting));
  }
  return variants(config, settings, known);
}

// Ranks that no step would have.
void refuse_idle_ranks(const RunCall& call, const ResolvedRun& run) {
  if ((run.ranks == 1 && run.nodes == 1) || takes_ranks(run.steps)) return;
  throw Error(FailureKind::usage,
              fmt::format("{} would start one process, not {}: no step of its recipe is parallel", run.model.name,
                          std::max(run.ranks, run.nodes)),
              fmt::format("leave {} out, or write \"parallel\": true into the step that ranks run",
                          call.request.ranks.value_or(1) > 1 ? option_text("ranks") : option_text("nodes")));
}

std::string choose_launcher(const RunCall& call, const ResolvedRun& run) {
  std::string launcher = call.request.launcher;
  if (launcher == "auto") {
    const auto path = call.request.environment.get("PATH").value_or("");
    const auto there = [&](const char* variable, const char* program) {
      return call.request.environment.get(variable) && !find_program(program, path).empty();
    };
    launcher = run.ranks == 1 && run.nodes == 1 ? "direct"
               : !run.site.launcher.empty()     ? run.site.launcher
               : there("SLURM_JOB_ID", "srun")  ? "srun"
               : there("FLUX_URI", "flux")      ? "flux"
                                                : "mpirun";
  }
  if (run.site.launchers.contains(launcher)) {
    if (launcher == "direct" && run.ranks > 1) {
      throw Error(FailureKind::usage, fmt::format("{} ranks need a launcher", run.ranks),
                  fmt::format("say {} mpirun, srun or flux", option_text("launcher")));
    }
    return launcher;
  }
  std::vector<std::string> names;
  for (const auto& [name, wrapper] : run.site.launchers) names.push_back(name);
  throw Error(FailureKind::usage, fmt::format("no launcher is called '{}'", printable(launcher)),
              fmt::format("known are auto, {}", fmt::join(names, ", ")));
}

void choose_container(const RunCall& call, ResolvedRun& run) {
  if (call.request.container.empty()) return;
  const auto colon = call.request.container.find(':');
  run.container_kind = call.request.container.substr(0, colon);
  run.container_image = colon == std::string::npos ? "" : call.request.container.substr(colon + 1);
  if (!run.container_image.empty() && run.container_image.front() != '-' &&
      run.site.containers.contains(run.container_kind))
    return;
  std::vector<std::string> names;
  for (const auto& [name, wrapper] : run.site.containers) names.push_back(name);
  throw Error(FailureKind::usage,
              fmt::format("{} {} names none", option_text("container"), printable(call.request.container)),
              fmt::format("it is KIND:IMAGE, and KIND is one of {}", fmt::join(names, ", ")));
}

void refuse_programs_of_others(const RunCall& call, const ResolvedRun& run, const fs::path& program) {
  const auto refuse = [&](const Wrapper& wrapper, std::string_view what) {
    for (const auto* argv : {&wrapper.argv, &wrapper.digest}) {
      if (!argv->empty()) refuse_others_program(argv->front(), what, call.caller.settings.trusted_owners, program);
    }
  };
  refuse(run.site.launchers.at(run.launcher), "launcher");
  if (!run.container_kind.empty()) refuse(run.site.containers.at(run.container_kind), "container");
}

constexpr std::uint64_t ranks_max = 1U << 20U;
constexpr std::chrono::seconds grace_max = std::chrono::hours(24);

unsigned at_least_one(const std::optional<std::uint64_t>& number, const std::string& what) {
  if (number && *number == 0) throw Error(FailureKind::usage, fmt::format("{} must be at least 1", what));
  if (number && *number > ranks_max) {
    throw Error(FailureKind::usage, fmt::format("{} of {} is more than {}", what, *number, ranks_max));
  }
  return static_cast<unsigned>(number.value_or(1));
}

void refuse_unknown(const char* what, const std::string& word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word) != known.end()) return;
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", what, printable(word)),
              fmt::format("it is one of {}", fmt::join(known, ", ")));
}

void refuse_unknown_words(const RunRequest& request) {
  refuse_unknown("the mode of a run", request.mode, {"train", "infer"});
  refuse_unknown("the engine of a run", request.engine, {"", "ort"});
  if (request.engine.empty() && !request.inputs.empty()) {
    throw Error(FailureKind::usage,
                fmt::format("{} is of a model that {} ort runs", option_text("input"), option_text("engine")));
  }
  refuse_unknown("what is done about requirements", request.requirements, {"none", "warn", "check", "create"});
  refuse_unknown("what is done about checks", request.checks, {"refuse", "warn", "none"});
  refuse_unknown("what is verified", request.verify, {"changed", "full", "none"});
  if (request.grace < std::chrono::seconds(0) || request.grace > grace_max) {
    throw Error(FailureKind::usage, fmt::format("a grace of {} s makes no sense", request.grace.count()),
                fmt::format("it is 0 to {} s", std::chrono::seconds(grace_max).count()));
  }
}

}  // namespace

std::vector<Step> ResolvedRun::all_steps() const {
  std::vector<Step> all = check_steps;
  all.insert(all.end(), steps.begin(), steps.end());
  return all;
}

ResolvedRun resolve_run(const RunCall& call) {
  refuse_unknown_words(call.request);
  for (const std::string& text : call.request.settings) static_cast<void>(parse_setting(text));  // before names
  ResolvedRun run;
  const Catalogue catalogue = make_catalogue(call.caller.settings);
  if (call.request.engine == "ort") {
    choose_graph(catalogue, call, run);
  } else {
    run.model = find_model(catalogue, call.request.model);
    refuse_held(catalogue, run.model);
    const RunSets& sets = call.request.mode == "infer" ? run.model.infer : run.model.run;
    choose_dataset(catalogue, call, sets, run);
  }
  run.check_steps = steps_of_checks(run.model.requirements);
  for (const std::string& name : asset_names(run.all_steps()))
    run.used.emplace_back(name, catalogue.used_by(run.model, name));
  if (!call.request.from.empty()) run.from = catalogue.find(call.request.from, std::nullopt);
  run.variants = choose_variants(call, run);
  const fs::path program = find_companion(call.caller.settings.program);
  run.sampler = program.string();
  run.site = choose_site(call.request.environment, program, call.request.site, [&](const fs::path& file) {
    refuse_others_profile(file, call.caller.settings.trusted_owners, program);
  });
  run.nodes = at_least_one(call.request.nodes, option_text("nodes"));
  run.ranks = call.request.ranks ? at_least_one(call.request.ranks, option_text("ranks")) : run.nodes;
  if (!run.by_ort) refuse_idle_ranks(call, run);
  run.launcher = choose_launcher(call, run);
  choose_container(call, run);
  refuse_programs_of_others(call, run, program);
  if (!call.request.lock.empty()) run.lock = read_module_lock(call, run.site);
  settle_root_of_environment(catalogue, call, run);
  run.packed = choose_packed(catalogue, call, run);
  return run;
}

}  // namespace sabath
