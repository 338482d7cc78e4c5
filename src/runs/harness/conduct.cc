#include "harness/conduct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/companion.h"
#include "base/process.h"
#include "base/wording.h"
#include "harness/graph_step.h"
#include "machine/machine.h"
#include "run/guarded_process.h"
#include "run/node_samples.h"
#include "run/run_directory.h"
#include "run/sampler.h"
#include "run/source_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The CPU time of this process so far, of all its threads.
double own_cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// The number of epochs, by the names that settings usually give it.
std::optional<std::uint64_t> epochs_of(const Config& config) {
  for (const char* key : {"epochs", "n_epochs", "num_epochs", "max_epochs", "epoch"}) {
    const auto found = config.find(key);
    if (found == config.end()) continue;
    std::uint64_t number = 0;
    if (std::sscanf(found->second.c_str(), "%lu", &number) == 1 && number > 0 && number < 1'000'000'000) return number;
  }
  return std::nullopt;
}

class Conductor {
 public:
  Conductor(const RunCall& call, const ResolvedRun& run, const Variant& variant, const RunAssets& assets,
            const RunEnvironment& environment, const fs::path& path, std::vector<RunStep> steps,
            std::vector<RunStep> checks, const Consent& consent)
      : call_(call),
        run_(run),
        environment_(environment),
        directory_(path),
        steps_(std::move(steps)),
        checks_(std::move(checks)),
        epochs_(call.request.mode == "infer" ? std::nullopt : epochs_of(variant.config)) {
    record_.id = path.filename().string();
    record_.mode = run.by_ort ? "infer" : call.request.mode;
    if (run.by_ort) record_.inputs = graph_inputs(call, run, assets);
    record_.started = unix_seconds();
    record_.state = "running";
    record_.recipe = recorded(run.model);
    record_.assets = recorded(assets.all);
    record_.source = recorded_source(assets.all, run.model);
    record_.trust = consent.recorded();
    record_.config.assign(variant.config.begin(), variant.config.end());
    record_.times = assets.times;
    for (const RunStep& step : steps_) record_.steps.push_back({step.argv, step.ranks, {}, {}, {}});
    if (!steps_.empty()) record_.command = steps_.back().argv;
    note_spread(steps_.size());
    own_variables_ = own_variables(environment, steps_, path);
    nlohmann::ordered_json described = to_json(environment, call.request.environment, run);
    for (const char* name : {"PYTHONUNBUFFERED", "HDF5_USE_FILE_LOCKING"}) {
      if (const auto found = own_variables_.find(name); found != own_variables_.end())
        described["variables"][name] = found->second;
    }
    if (!run.model.requirements.checks.empty()) described["checks"] = to_json(unasked_checks(run.model.requirements));
    record_.environment = std::make_shared<const nlohmann::ordered_json>(std::move(described));
    record_.machine = std::make_shared<const nlohmann::ordered_json>(
        describe_machine([&](const std::string& name) { return call.request.environment.get(name); }, call.stop));
    write();
  }

  Conducted run(const RunAssets& assets, ChecksMade& checked) {
    try {
      const auto begin = Clock::now();
      copy_code(assets);
      record_.times.launch = seconds_since(begin);
      if (call_.request.checks != "none" && !run_.model.requirements.checks.empty()) check_machine(checked);
      launch();
    } catch (const Error& error) {
      const FailureKind kind = error.failure().kind;
      const bool stopped = kind == FailureKind::interrupted || kind == FailureKind::terminated;
      record_.last_lines = {error.failure().message};
      try_close(stopped ? "interrupted" : "failed");
      throw;
    }
    return {exit_, std::move(record_), directory_.path()};
  }

 private:
  void copy_code(const RunAssets& assets) const {
    if (assets.source.empty() || !uses_source(run_.all_steps())) return;
    copy_source(assets.source, directory_.source(), call_.stop);
    const RunAsset& code = assets.all.front();
    if (code.repository.empty() || find_program("git", call_.request.environment.get("PATH").value_or("")).empty())
      return;
    add_repository(directory_.source(), code.repository, code.commit, run_.model.git->origin, call_.stop);
  }

  [[nodiscard]] VariableMap variables() const {
    VariableMap all = own_variables_;
    all.insert(environment_.variables.begin(), environment_.variables.end());
    return all;
  }

  // What is found is in the record before anything is launched, or is not.
  void check_machine(ChecksMade& checked) {
    run_checks(call_, run_, environment_, variables(), directory_.work(), checks_, checked);
    nlohmann::ordered_json described = *record_.environment;
    described["checks"] = to_json(checked.results);
    const bool despite = call_.request.checks == "warn" && !unmet(checked.results).empty();
    if (despite) described["despite_checks"] = true;
    record_.environment = std::make_shared<const nlohmann::ordered_json>(std::move(described));
    write();
    if (!despite) refuse_unmet(run_, checked.results, directory_.path());
  }

  void launch() {
    ExecutionOptions execution;
    execution.environment = lines(variables());
    execution.patterns = run_.model.metrics;
    execution.companion = find_companion(call_.caller.settings.program);
    execution.grace = call_.request.grace;
    execution.stop_signal = [this] { return stop_signal(); };
    execution.on_metric = [this](const Metric& metric) { call_.events.on(event::MetricRead{metric}); };
    execution.on_tick = [this] { call_.events.on(event::RunTick{}); };
    execution.on_output = [this](std::string_view bytes) { call_.events.on(event::OutputRead{bytes}); };
    const std::string node = node_name([this](const std::string& name) { return call_.request.environment.get(name); });
    for (std::size_t i = 0; i < steps_.size(); ++i) claim_node(samples_of(directory_.path(), i), node);
    Sampler sampler([this](std::string_view line) { directory_.add_resources(line); }, node,
                    AcceleratorProbe(call_.request.environment.get("PATH").value_or("")));
    execution.on_start = [&sampler](pid_t guardian) { sampler.watch(guardian); };
    call_.events.on(event::RunStarted{run_.model.name, directory_.path().string(), epochs_});
    const auto begin = Clock::now();
    const double worked = own_cpu_s();
    const ExecutionEnd end = execute(steps_, directory_, execution, call_.stop);
    record_.times.train = seconds_since(begin);
    record_.harness_cpu_s = own_cpu_s() - worked;
    close(end);
  }

  // What these first steps are spread over; a number that is not known is none.
  void note_spread(std::size_t count) {
    record_.launcher = "direct";
    record_.ranks = record_.nodes = 1;
    for (std::size_t i = 0; i < count; ++i) {
      const RunStep& step = steps_[i];
      if (step.starts_ranks) record_.ranks = record_.nodes = std::nullopt;
      if (step.launcher.empty()) continue;
      record_.launcher = step.launcher;
      record_.ranks = step.ranks;
      record_.nodes = step.nodes ? step.nodes : nodes_seen(samples_of(directory_.path(), i));
      return;
    }
  }

  void close(const ExecutionEnd& end) {
    note_spread(end.steps.size());
    for (std::size_t i = 0; i < end.steps.size(); ++i) {
      RunRecord::Step& step = record_.steps[i];
      step.exit = record_.exit = end.steps[i].end.exit;
      if (end.steps[i].end.signal != 0) step.signal = end.steps[i].end.signal;
      record_.signal = step.signal;
      step.seconds = end.steps[i].seconds;
    }
    const bool failed = record_.exit.value_or(0) != 0;
    if (run_.by_ort && !failed) record_.results = graph_results(directory_.path());
    if (failed) record_.last_lines = end.last_lines;
    directory_.finish();
    record_.unwritten_lines = static_cast<int>(std::min<std::uint64_t>(directory_.unwritten().lines, INT_MAX));
    exit_ = end.stopped ? exit_code(stop_signal() == SIGINT ? FailureKind::interrupted : FailureKind::terminated)
            : failed    ? exit_code(FailureKind::command)
                        : 0;
    finish(end.stopped ? "interrupted" : failed ? "failed" : "finished");
    tell(end);
  }

  void tell(const ExecutionEnd& end) const {
    event::RunEnded ended;
    ended.model = run_.model.name;
    ended.directory = directory_.path().string();
    if (!end.steps.empty()) ended.program = steps_[end.steps.size() - 1].argv.front();
    ended.seconds = *record_.times.train;
    ended.metrics = end.metrics;
    ended.not_understood = end.not_understood;
    ended.stopped = end.stopped;
    ended.exit = record_.exit;
    ended.signal = record_.signal;
    ended.last_lines = end.last_lines;
    ended.unwritten_lines = directory_.unwritten().lines;
    ended.unwritten_why = directory_.unwritten().why;
    call_.events.on(ended);
  }

  [[nodiscard]] int stop_signal() const {
    const int asked = call_.request.stop_signal ? call_.request.stop_signal() : 0;
    return asked == 0 ? SIGTERM : asked;
  }

  void write() { directory_.write_run(record_); }

  void finish(std::string state) {
    record_.state = std::move(state);
    record_.finished = unix_seconds();
    write();
  }

  // If the record cannot be closed (no room), it still says "running"; the failure itself is reported all the same.
  void try_close(std::string state) {
    try {
      directory_.finish();
      finish(std::move(state));
    } catch (const Error&) {}
  }

  const RunCall& call_;
  const ResolvedRun& run_;
  const RunEnvironment& environment_;
  RunDirectory directory_;
  std::vector<RunStep> steps_, checks_;
  RunRecord record_;
  VariableMap own_variables_;
  const std::optional<std::uint64_t> epochs_;
  int exit_ = 0;
};

// The nodes that the launcher was told to use.
std::optional<int> nodes_of(const ResolvedRun& run) {
  const auto says_nodes = [](const std::string& word) { return word.find("{nodes}") != std::string::npos; };
  const bool told = std::ranges::any_of(run.site.launchers.at(run.launcher).argv, says_nodes);
  return told || run.launcher == "direct" ? std::optional(static_cast<int>(run.nodes)) : std::nullopt;
}

// The programs of containers take "from:to" and lists with commas, and not all of them can quote these characters.
void refuse_unbindable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.find_first_of(":,") == std::string::npos) continue;
    throw Error(FailureKind::usage, fmt::format("a container cannot be given {}", printable(path, 4096)),
                fmt::format("paths with : or , do not work there: name another {}, or keep the store elsewhere",
                            option_text("run_dir")));
  }
}

}  // namespace

VariableMap own_variables(const RunEnvironment& environment, const std::vector<RunStep>& steps,
                          const std::filesystem::path& directory) {
  VariableMap variables{{"SABATH_RUN", directory.string()},
                        {"SABATH_METRICS", RunDirectory::metric_log_of(directory).string()}};
  const auto unless_set = [&](const char* name, const char* value) {
    if (!environment.variables.contains(name)) variables.emplace(name, value);
  };
  // Python's buffer would hold back epochs. A launcher that tags lines gives its ranks terminals, where lines are
  // written whole; unbuffered writes would be torn by the tags.
  if (std::ranges::none_of(steps, &RunStep::tagged)) unless_set("PYTHONUNBUFFERED", "1");
  unless_set("HDF5_USE_FILE_LOCKING", "BEST_EFFORT");  // many shared filesystems refuse locks
  return variables;
}

namespace {

// `more`: arguments of the last one. `sample`: on several nodes, a sampler goes with each.
std::vector<RunStep> launched(const std::vector<Step>& commands, const std::vector<std::string>& more, bool sample,
                              const ResolvedRun& run, const Variant& variant, const RunAssets& assets,
                              const RunEnvironment& environment, const std::filesystem::path& directory) {
  Places places;
  if (!assets.source.empty()) places.source = (directory / "source").string();
  places.dataset = assets.dataset;
  places.from = assets.from;
  if (run.dataset) places.fragments = fragment_places(run.origin ? *run.origin : *run.dataset, assets.dataset);
  if (!assets.model.empty()) places.model_files = fragment_places(run.model, assets.model);
  places.assets = assets.used;
  places.config = variant.config;
  places.nodes = run.nodes;
  places.ranks = run.ranks;
  WrapperValues values{run.ranks, run.nodes, (directory / "work").string(), run.container_image, {directory.string()}};
  if (!assets.dataset.empty()) values.binds.push_back(assets.dataset);
  if (!assets.from.empty()) values.binds.push_back(assets.from);
  if (!assets.model.empty()) values.binds.push_back(assets.model);
  for (const auto& [name, path] : assets.used) values.binds.push_back(path);
  if (!run.container_kind.empty()) refuse_unbindable(values.binds);
  std::vector<RunStep> steps;
  for (Launch& launch : expand(commands, places, more)) {
    std::string& program = launch.argv.front();
    if ((program == "python" || program == "python3") && !environment.python.program.empty())
      program = environment.python.program;
    RunStep step{std::move(launch.argv)};
    step.starts_ranks = launch.told_ranks && !launch.parallel;
    if (!run.container_kind.empty()) step.argv = wrap(run.site.containers.at(run.container_kind), values, step.argv);
    if (launch.parallel) {
      if (run.nodes > 1 && sample) step.argv = sampled(run.sampler, samples_of(directory, steps.size()), step.argv);
      const Wrapper& launcher = run.site.launchers.at(run.launcher);
      step.argv = wrap(launcher, values, step.argv);
      step.tagged = launcher.tags_output;
      step.ranks = static_cast<int>(run.ranks);
      step.launcher = run.launcher;
      step.nodes = nodes_of(run);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::vector<RunStep> steps_of(const RunCall& call, const ResolvedRun& run, const Variant& variant,
                              const RunAssets& assets, const RunEnvironment& environment,
                              const std::filesystem::path& directory) {
  if (run.by_ort) return {graph_step(call, run, variant, assets, directory)};
  return launched(run.steps, call.request.arguments, true, run, variant, assets, environment, directory);
}

std::vector<RunStep> check_steps_of(const ResolvedRun& run, const Variant& variant, const RunAssets& assets,
                                    const RunEnvironment& environment, const std::filesystem::path& directory) {
  for (const RecipeCheck& check : run.model.requirements.checks) refuse_bad_expectation(check);
  return launched(run.check_steps, {}, false, run, variant, assets, environment, directory);
}

Conducted conduct(const RunCall& call, const ResolvedRun& run, const Variant& variant, const RunAssets& assets,
                  const RunEnvironment& environment, const std::filesystem::path& directory, const Consent& consent,
                  ChecksMade& checked) {
  // A run that cannot start leaves no directory.
  std::vector<RunStep> steps = steps_of(call, run, variant, assets, environment, directory);
  std::vector<RunStep> checks = check_steps_of(run, variant, assets, environment, directory);
  return Conductor(call, run, variant, assets, environment, directory, std::move(steps), std::move(checks), consent)
      .run(assets, checked);
}

}  // namespace sabath
