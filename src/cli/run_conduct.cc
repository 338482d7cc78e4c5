#include "cli/run_conduct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/companion.h"
#include "base/text.h"
#include "cli/epoch_board.h"
#include "run/guarded_process.h"
#include "run/machine.h"
#include "run/node_samples.h"
#include "run/run_directory.h"
#include "run/sampler.h"
#include "run/source_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// What this process has worked so far, all its threads.
double own_cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void print_stderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// How many epochs there will be, as settings usually call it.
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
  Conductor(Context& context, const RunRequest& request, const Variant& variant, const RunAssets& assets,
            const RunEnvironment& environment, const RunOptions& options, const fs::path& path,
            std::vector<RunStep> steps)
      : context_(context),
        request_(request),
        environment_(environment),
        options_(options),
        directory_(path),
        steps_(std::move(steps)),
        board_(
            {context.presentation.live, context.presentation.utf8, context.presentation.quiet,
             options.mode == "infer" ? std::nullopt : epochs_of(variant.config)},
            [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); },
            [&context] { return terminal_width(STDERR_FILENO, context.environment); }, print_stderr) {
    record_.id = path.filename().string();
    record_.mode = options.mode;
    record_.started = unix_seconds();
    record_.state = "running";
    record_.recipe = recorded(request.model);
    record_.assets = recorded(assets.all);
    record_.source = recorded_source(assets.all, request.model);
    record_.config.assign(variant.config.begin(), variant.config.end());
    record_.launcher = request.launcher;
    record_.ranks = static_cast<int>(request.ranks);
    record_.nodes = static_cast<int>(request.nodes);
    record_.times = assets.times;
    for (const RunStep& step : steps_) record_.steps.push_back({step.argv, step.ranks, {}, {}, {}});
    if (!steps_.empty()) record_.command = steps_.back().argv;
    own_variables_ = own_variables(environment, steps_, path);
    nlohmann::ordered_json described = to_json(environment, context.environment, request);
    for (const char* name : {"PYTHONUNBUFFERED", "HDF5_USE_FILE_LOCKING"}) {
      if (const auto found = own_variables_.find(name); found != own_variables_.end())
        described["variables"][name] = found->second;
    }
    record_.environment = std::make_shared<const nlohmann::ordered_json>(std::move(described));
    record_.machine = std::make_shared<const nlohmann::ordered_json>(
        describe_machine([&](const std::string& name) { return context.environment.get(name); }, context.stop));
    write();
  }

  Conducted run(const RunAssets& assets) {
    try {
      const auto begin = Clock::now();
      copy_code(assets);
      record_.times.launch = seconds_since(begin);
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
    if (assets.source.empty() || !uses_source(request_.steps)) return;
    copy_source(assets.source, directory_.source(), context_.stop);
    const RunAsset& code = assets.all.front();
    if (code.repository.empty() || find_program("git", context_.environment.get("PATH").value_or("")).empty()) return;
    add_repository(directory_.source(), code.repository, code.commit, request_.model.git->origin, context_.stop);
  }

  void launch() {
    ExecutionOptions execution;
    VariableMap variables = own_variables_;
    variables.insert(environment_.variables.begin(), environment_.variables.end());
    execution.environment = lines(variables);
    execution.patterns = request_.model.metrics;
    execution.companion = find_companion(context_.configuration.session.program);
    execution.grace = std::chrono::seconds(options_.grace_s.value_or(10));
    execution.stop_signal = [this] { return context_.signals.received() == 0 ? SIGTERM : context_.signals.received(); };
    execution.on_metric = [this](const Metric& metric) { board_.on(metric); };
    execution.on_tick = [this] { board_.tick(); };
    if (context_.presentation.verbose) {
      execution.on_output = [this](std::string_view bytes) {
        board_.clear();
        print_stderr(bytes);
      };
    }
    const std::string node = node_name([this](const std::string& name) { return context_.environment.get(name); });
    for (std::size_t i = 0; i < steps_.size(); ++i) claim_node(samples_of(directory_.path(), i), node);
    Sampler sampler([this](std::string_view line) { directory_.add_resources(line); }, node,
                    AcceleratorProbe(context_.environment.get("PATH").value_or("")));
    execution.on_start = [&sampler](pid_t guardian) { sampler.watch(guardian); };
    context_.say(fmt::format("running {} in {}", request_.model.name, directory_.path().string()));
    const auto begin = Clock::now();
    const double worked = own_cpu_s();
    const ExecutionEnd end = execute(steps_, directory_, execution, context_.stop);
    record_.times.train = seconds_since(begin);
    record_.harness_cpu_s = own_cpu_s() - worked;
    board_.finish();
    close(end);
  }

  void close(const ExecutionEnd& end) {
    for (std::size_t i = 0; i < end.steps.size(); ++i) {
      RunRecord::Step& step = record_.steps[i];
      step.exit = record_.exit = end.steps[i].end.exit;
      if (end.steps[i].end.signal != 0) step.signal = end.steps[i].end.signal;
      record_.signal = step.signal;
      step.seconds = end.steps[i].seconds;
    }
    const bool failed = record_.exit.value_or(0) != 0;
    if (failed) record_.last_lines = end.last_lines;
    exit_ = end.stopped ? exit_code_of_signal(context_.signals.received() == SIGINT ? SIGINT : SIGTERM)
            : failed    ? exit_code(FailureKind::command)
                        : 0;
    finish(end.stopped ? "interrupted" : failed ? "failed" : "finished");
    tell(end);
  }

  void tell(const ExecutionEnd& end) const {
    const std::string took = format_duration(*record_.times.train);
    if (end.not_understood > 0) {
      context_.warn(
          fmt::format("{} line{} like metrics and {} not understood; a pattern in the recipe's \"metrics\" reads them, "
                      "and `sabath report FILE` in {} shows the first one",
                      end.not_understood, end.not_understood == 1 ? " looks" : "s look",
                      end.not_understood == 1 ? "is" : "are", (directory_.path() / "output").string()));
    }
    if (exit_ == 0) {
      context_.say(fmt::format("{}: {} epoch{}, {} values in {}", request_.model.name, board_.epochs(),
                               board_.epochs() == 1 ? "" : "s", end.metrics, took));
    } else if (end.stopped) {
      context_.say(fmt::format("stopped after {}; {} epochs are in the record", took, board_.epochs()));
    } else {
      const std::string how = record_.signal ? fmt::format("was ended by signal {}", *record_.signal)
                                             : fmt::format("ended with {}", *record_.exit);
      context_.warn(fmt::format("`{}` {}", printable(record_.steps[end.steps.size() - 1].argv.front(), 400), how));
      for (const std::string& line : end.last_lines) context_.say("  | " + line);
      context_.say(fmt::format("all that it said is in {}", (directory_.path() / "output").string()));
    }
  }

  void write() { directory_.write_run(record_); }

  void finish(std::string state) {
    record_.state = std::move(state);
    record_.finished = unix_seconds();
    write();
  }

  // A record that cannot be closed (no room) stays one that runs; the failure itself is told all the same.
  void try_close(std::string state) {
    try {
      finish(std::move(state));
    } catch (const Error&) {}
  }

  Context& context_;
  const RunRequest& request_;
  const RunEnvironment& environment_;
  const RunOptions& options_;
  RunDirectory directory_;
  std::vector<RunStep> steps_;
  RunRecord record_;
  VariableMap own_variables_;
  EpochBoard board_;
  int exit_ = 0;
};

// Containers' programs take "from:to" and lists with commas, and not all of them have a way to quote those.
void refuse_unbindable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.find_first_of(":,") == std::string::npos) continue;
    throw Error(FailureKind::usage, fmt::format("a container cannot be given {}", printable(path, 4096)),
                "paths with : or , do not work there: name another --run-dir, or keep the store elsewhere");
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
  // Or epochs would appear in bunches. A launcher gives its ranks terminals, where lines are written whole; unbuffered
  // they would be torn by its tags.
  if (std::ranges::none_of(steps, &RunStep::tagged)) unless_set("PYTHONUNBUFFERED", "1");
  unless_set("HDF5_USE_FILE_LOCKING", "BEST_EFFORT");  // many shared filesystems refuse locks
  return variables;
}

std::vector<RunStep> steps_of(const RunRequest& request, const Variant& variant, const RunAssets& assets,
                              const RunEnvironment& environment, const RunOptions& options,
                              const std::filesystem::path& directory) {
  Places places;
  if (!assets.source.empty()) places.source = (directory / "source").string();
  places.dataset = assets.dataset;
  if (request.dataset) places.fragments = fragment_places(*request.dataset, assets.dataset);
  places.config = variant.config;
  places.nodes = request.nodes;
  places.ranks = request.ranks;
  WrapperValues values{
      request.ranks, request.nodes, (directory / "work").string(), request.container_image, {directory.string()}};
  if (!assets.dataset.empty()) values.binds.push_back(assets.dataset);
  if (!request.container_kind.empty()) refuse_unbindable(values.binds);
  std::vector<RunStep> steps;
  for (Launch& launch : expand(request.steps, places, options.arguments)) {
    std::string& program = launch.argv.front();
    if ((program == "python" || program == "python3") && !environment.python.program.empty())
      program = environment.python.program;
    RunStep step{std::move(launch.argv), false, 1};
    if (!request.container_kind.empty())
      step.argv = wrap(request.site.containers.at(request.container_kind), values, step.argv);
    if (launch.parallel) {
      if (request.nodes > 1) step.argv = sampled(request.sampler, samples_of(directory, steps.size()), step.argv);
      const Wrapper& launcher = request.site.launchers.at(request.launcher);
      step.argv = wrap(launcher, values, step.argv);
      step.tagged = launcher.tags_output;
      step.ranks = static_cast<int>(request.ranks);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

Conducted conduct(Context& context, const RunRequest& request, const Variant& variant, const RunAssets& assets,
                  const RunEnvironment& environment, const RunOptions& options,
                  const std::filesystem::path& directory) {
  // What cannot be run leaves no directory.
  std::vector<RunStep> steps = steps_of(request, variant, assets, environment, options, directory);
  return Conductor(context, request, variant, assets, environment, options, directory, std::move(steps)).run(assets);
}

}  // namespace sabath::cli
