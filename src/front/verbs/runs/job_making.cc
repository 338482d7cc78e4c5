#include "verbs/runs/job_making.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/companion.h"
#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "harness/consent.h"
#include "harness/module_lock.h"
#include "harness/packed_choice.h"
#include "harness/resolved_run.h"
#include "holdings/holding.h"
#include "jobs/job_bounds.h"
#include "jobs/job_memory.h"
#include "jobs/job_script.h"
#include "jobs/job_templates.h"
#include "jobs/script_word.h"
#include "machine/walltime.h"
#include "run/run_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/verbs/plan.h"
#include "session/caller_of.h"
#include "verbs/runs/job_surroundings.h"
#include "verbs/runs/job_words.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Settings that hold in the job as well. What is a secret, or may hold one, the job reads from the configuration.
constexpr std::array carried_variables{
    "SABATH_ROOT",     "SABATH_CONFIG",  "SABATH_OFFLINE", "SABATH_HASH_KERNEL", "SABATH_LOCAL_DIR",
    "SABATH_SITE",     "SABATH_PYTHON",  "SABATH_ORT",     "SABATH_LIBMPI",      "SABATH_MPI_START_SECONDS",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"};

class JobMaker {
 public:
  JobMaker(Session& session, const JobRequest& request, EventSink& events, const std::stop_token& stop)
      : session_(session), request_(request), events_(events), stop_(stop), asked_(request.run) {
    asked_.requirements = "none";  // a login node is asked for no module and no Python
    asked_.launcher = "direct";
    asked_.ranks.reset();
    asked_.nodes.reset();
    asked_.trust.clear();
    asked_.lock.clear();  // see take_lock()
  }

  MadeJob make() {
    made_.program = find_companion(session_.settings().program);
    const RunCall looked{caller_of(session_), asked_, events_, stop_, true};
    ResolvedRun run = resolve_run(looked);
    choose_environment(run);
    settle_trust(run);
    forecast_ = foresee(session_, asked_, events_, stop_);
    refuse_data_with_code();
    if (!run.site.file.empty()) refuse_others_file(run.site.file, "the site profile", made_.program);
    site_ = run.site.jobs;
    made_.scheduler = &choose_job_scheduler(request_.scheduler.empty() ? site_.scheduler : request_.scheduler,
                                            request_.run.environment);
    choose_directory(run);
    choose_fetch(run);
    choose_resources(run);
    choose_steps(run);
    choose_tasks(run);
    choose_variables();
    write_scripts();
    made_.record = {made_.plan.name, run.model.name, std::string(made_.scheduler->name), {}, "", made_.record.tasks, 0};
    return std::move(made_);
  }

 private:
  // No user answers in a queue: what is not trusted yet is asked about here, and the answer is kept.
  void settle_trust(const ResolvedRun& run) {
    if (request_.run.trust == "once") {
      throw Error(FailureKind::usage,
                  fmt::format("{} once is of one start, and a job may start again", option_text("trust")),
                  fmt::format("say {0} commit, or {0} origin", option_text("trust")));
    }
    RunRequest asked = asked_;
    asked.trust = request_.run.trust;
    asked.ask = request_.run.ask;
    const Consent known = foresee_consent(session_.settings(), asked.environment, run.model, run.steps);
    if (!known.verdict.by.empty()) return;
    if (request_.submit) {
      const RunCall call{caller_of(session_), asked, events_, stop_};
      static_cast<void>(ask_consent(call, run));
      return;
    }
    events_.on(event::Warning{fmt::format("the code of {} is not trusted yet: {} asks before it submits the job",
                                          run.model.name, verb_text("job"))});
  }

  void refuse_data_with_code() const {
    for (const ForeseenAsset& asset : forecast_.runs.front().assets) {
      if (asset.code.empty() || !asset.read_by.empty()) continue;
      throw Error(
          FailureKind::access,
          fmt::format("{} holds code that is not trusted yet: {}", asset.name, printable(asset.code.front(), 500)),
          fmt::format("`{} {}` asks about it; in a queue nothing can answer", verb_text("run"),
                      shell_word(request_.run.model)));
    }
  }

  void choose_directory(const ResolvedRun& run) {
    std::string what = fmt::format("{}_{}", run.model.name, run.dataset ? run.dataset->name : "none");
    std::ranges::replace(what, '/', '+');
    made_.plan.directory =
        absolute_path(request_.run.directory.empty() ? fs::path(fmt::format("job_{}_{}", what, new_run_id()))
                                                     : request_.run.directory);
    made_.plan.name = job_label(what);
  }

  // The job reads a copy of the lock: the run may be moved or removed before it starts.
  void choose_environment(ResolvedRun& run) {
    const RunCall whole{caller_of(session_), request_.run, events_, stop_, true};
    if (!request_.run.lock.empty()) {
      run.lock = read_module_lock(whole, run.site);
      made_.lock = run.lock->text;
    }
    run.packed = choose_packed(make_catalogue(session_.settings()), whole, run);
    if (run.packed && !is_root_alone(*run.packed))
      environment_ = request_.run.packed.empty() ? run.packed->name : settled(request_.run.packed);
    if (asked_.packed.empty()) asked_.packed = environment_;  // the forecast says what is to be fetched
  }

  [[nodiscard]] Words sabath(std::initializer_list<const char*> words) const {
    Words argv{made_.program.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    return argv;
  }

  void choose_fetch(const ResolvedRun& run) {
    std::string where = request_.fetch;
    const std::string& partition =
        request_.transfer_partition.empty() ? site_.transfer_partition : request_.transfer_partition;
    if (where.empty()) where = !partition.empty() ? "transfer" : site_.network ? "job" : "login";
    if (where == "none" && !forecast_.to_fetch.empty()) {
      events_.on(
          event::Warning{fmt::format("{} is not here, and nothing fetches it: the job would end with {}",
                                     printable(forecast_.to_fetch.front(), 200), exit_code(FailureKind::offline))});
    }
    if (where == "transfer" && partition.empty()) {
      throw Error(FailureKind::usage, "no partition of nodes that see the internet is known",
                  fmt::format("name it: {} NAME, or transfer_partition in the site profile",
                              option_text("transfer_partition")));
    }
    if (where == "none" || (forecast_.to_fetch.empty() && where != "job")) return;
    Words argv = sabath({"fetch", "--alone"});
    const bool has_content = run.model.git || !run.model.fragments.empty();  // else its code is beside its recipe
    if (has_content && run.model.kind == AssetKind::model) {
      made_.fetch.models = {settled(request_.run.model)};
      argv.insert(argv.end(), {"--model", made_.fetch.models.front()});
    } else if (has_content) {
      made_.fetch.names.push_back(settled(request_.run.model));
    }
    if (run.dataset) {
      made_.fetch.datasets = {request_.run.dataset.empty() ? run.dataset->name : settled(request_.run.dataset)};
      argv.insert(argv.end(), {"--dataset", made_.fetch.datasets.front()});
    }
    for (const auto& [name, recipe] : run.used) made_.fetch.names.push_back(recipe.name);
    if (run.from) made_.fetch.names.push_back(settled(request_.run.from));
    if (!environment_.empty()) made_.fetch.names.push_back(environment_);
    argv.insert(argv.end(), made_.fetch.names.begin(), made_.fetch.names.end());
    if (made_.fetch.models.empty() && made_.fetch.datasets.empty() && made_.fetch.names.empty()) return;
    made_.fetch_here = where == "login";
    if (where == "job") made_.plan.fetch = argv;
    if (where != "transfer") return;
    transfer_ = argv;
    transfer_partition_ = partition;
  }

  void choose_resources(const ResolvedRun& run) {
    if (const std::string asked = job_wishes(run.model.metadata); !asked.empty())
      events_.on(event::Message{fmt::format("the recipe of {} asks for {}", run.model.name, asked)});
    JobResources& of = made_.plan.resources;
    const auto first = [](std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) { return a ? a : b; };
    of.nodes = first(request_.run.nodes, job_count(run.model, "job_nodes", job_nodes_max)).value_or(1);
    of.ranks = first(request_.run.ranks, job_count(run.model, "job_ranks", job_ranks_max)).value_or(of.nodes);
    if (of.ranks < of.nodes)
      throw Error(FailureKind::usage, fmt::format("{} ranks are not enough for {} nodes", of.ranks, of.nodes),
                  "give each node one at least");
    if ((of.ranks > 1 || of.nodes > 1) && !takes_ranks(run.steps)) {
      throw Error(FailureKind::usage,
                  fmt::format("{} would start one process: no step of its recipe is parallel", run.model.name),
                  fmt::format("leave {} and {} out", option_text("ranks"), option_text("nodes")));
    }
    of.cores = first(first(request_.cores, job_count(run.model, "job_cores", job_cores_max)), site_.cores);
    of.gpus = first(first(request_.gpus, job_count(run.model, "job_gpus", job_gpus_max)), site_.gpus);
    of.memory_bytes = first(request_.memory_bytes, job_count(run.model, "job_memory", job_memory_max));
    if (!of.memory_bytes && !site_.memory.empty()) {
      of.memory_bytes = try_job_memory(site_.memory);
      if (!of.memory_bytes)
        throw Error(FailureKind::invalid, fmt::format("{}: the memory of jobs is no size", run.site.file),
                    job_memory_hint);
    }
    if (of.cores == 0U || of.memory_bytes == 0U)
      throw Error(FailureKind::usage, "a job needs a core and some memory", "leave the 0 out");
    if (of.gpus == 0U) of.gpus.reset();
    of.partition = request_.partition.empty() ? site_.partition : request_.partition;
    of.account = request_.account.empty() ? site_.account : request_.account;
    if (request_.run.launcher != "auto" && !run.site.launchers.contains(request_.run.launcher))
      throw Error(FailureKind::usage, fmt::format("no launcher is called '{}'", printable(request_.run.launcher)));
    choose_time(run);
  }

  void choose_time(const ResolvedRun& run) {
    const std::string of_recipe = job_fact(run.model, "job_time");
    const std::string& said = !request_.time.empty() ? request_.time : !of_recipe.empty() ? of_recipe : site_.time;
    std::optional<std::int64_t>& time = made_.plan.resources.seconds;
    if (!said.empty()) {
      time = try_parse_span(said);
      if (time && *time > 0) return;
      throw Error(FailureKind::usage, fmt::format("'{}' is no time that a job may take", printable(said)),
                  "e.g. 45m, 2h30m, 02:30:00 or 1-00:00:00");
    }
    const auto longest = longest_run_in(absolute_path("."), run.model.name, run.dataset ? run.dataset->name : "");
    std::optional<double> fetching;
    if (longest && !made_.plan.fetch.empty() && !forecast_.to_fetch.empty())
      fetching = session_.plan({.fetch = made_.fetch, .to = {}, .requests_max = 0}, events_, stop_).seconds;
    time = job_walltime(longest, fetching);
    if (!time) return;
    events_.on(event::Message{fmt::format(
        "the job asks for {}: 1.5 times the longest of the earlier runs here, {}, {}and ten minutes",
        format_duration(static_cast<double>(*time)), format_duration(*longest), fetching ? "twice the fetch, " : "")});
  }

  // One process on each node, by the site's launcher.
  [[nodiscard]] Words on_each_node(const ResolvedRun& run, const Words& command) const {
    const auto nodes = static_cast<unsigned>(made_.plan.resources.nodes);
    if (nodes == 1) return command;
    const std::string_view scheduler = made_.scheduler->name;
    const std::string launcher = request_.run.launcher != "auto" ? request_.run.launcher
                                 : !run.site.launcher.empty()    ? run.site.launcher
                                 : scheduler == "slurm"          ? "srun"
                                 : scheduler == "flux"           ? "flux"
                                                                 : "mpirun";
    const auto found = run.site.launchers.find(launcher);
    if (found == run.site.launchers.end())
      throw Error(FailureKind::usage, fmt::format("no launcher is called '{}'", printable(launcher)));
    return wrap(found->second, {.ranks = nodes, .nodes = nodes, .work = {}, .image = {}, .binds = {}}, command);
  }

  [[nodiscard]] std::string node_disk() const {
    std::string disk = request_.stage.empty() ? site_.node_disk : request_.stage;
    if (disk.empty() || disk == "none") return "";
    constexpr std::string_view user = "{user}";
    if (const auto at = disk.find(user); at != disk.npos) disk.replace(at, user.size(), request_.run.environment.user);
    if (disk.front() == '/') return disk;
    throw Error(FailureKind::usage, fmt::format("'{}' is no absolute path on the nodes", printable(disk)),
                "such as /local/{user}");
  }

  void choose_steps(const ResolvedRun& run) {
    JobPlan& plan = made_.plan;
    const std::string disk = run.dataset || !environment_.empty() ? node_disk() : "";
    const std::string& cap = request_.cap.empty() ? site_.node_cap : request_.cap;
    if (!cap.empty() && !parse_size(cap))
      throw Error(FailureKind::usage, fmt::format("'{}' is no size", printable(cap)), "e.g. 500GB");
    if (disk.empty() && !request_.cap.empty()) {
      throw Error(FailureKind::usage,
                  fmt::format("{} bounds what is staged, and this job stages nothing", option_text("cap")),
                  "say where it is staged, such as /local/{user}, or leave it out");
    }
    if (!disk.empty()) {
      plan.stage = on_each_node(run, [&] {
        Words argv = sabath({"stage"});
        if (run.dataset)
          argv.push_back(request_.run.dataset.empty() ? run.dataset->name : settled(request_.run.dataset));
        if (!environment_.empty()) argv.insert(argv.end(), {"--env", environment_});
        argv.insert(argv.end(), {"--to", disk});
        if (request_.fetch == "none" || !site_.network) argv.emplace_back("--no-fetch");
        return argv;
      }());
      if (!cap.empty()) {
        Words argv = sabath({"gc", "--store"});
        argv.insert(argv.end(), {disk + "/.sabath", "--max-size", cap, "--now", "--force-local"});
        plan.cap = on_each_node(run, argv);
      }
    }
    plan.report = sabath({"report"});
    plan.run = run_command_of(run, disk);
    if (!request_.run.arguments.empty()) {
      plan.arguments = {"--"};
      plan.arguments.insert(plan.arguments.end(), request_.run.arguments.begin(), request_.run.arguments.end());
    }
  }

  [[nodiscard]] Words run_command_of(const ResolvedRun& run, const std::string& disk) const {
    const RunRequest& of = request_.run;
    Words argv = sabath({"run"});
    argv.push_back(settled(of.model));
    if (!of.dataset.empty()) argv.push_back(settled(of.dataset));
    argv.emplace_back("--again");
    const auto add = [&](const char* option, const std::string& value) {
      if (!value.empty()) argv.insert(argv.end(), {option, value});
    };
    if (of.mode != "train") add("--mode", of.mode);
    add("--run-set", of.run_set);
    if (!of.settings_file.empty()) add("--set-from", absolute_path(of.settings_file).string());
    for (const std::string& setting : run.is_sweep() ? Words() : of.settings) add("--set", setting);
    add("--from", of.from.empty() ? "" : settled(of.from));
    if (of.requirements != "warn") add("--env", of.requirements);
    if (!of.packed.empty()) add("--env", environment_);
    if (of.checks != "refuse") add("--checks", of.checks);
    if (of.launcher != "auto") add("--launcher", of.launcher);
    add("--container", of.container);
    if (!made_.lock.empty()) add("--lock", (made_.plan.directory / job_lock_file).string());
    add("--site", of.site.empty() ? "" : settled(of.site));
    const JobResources& resources = made_.plan.resources;
    if (resources.ranks > 1) add("--ranks", fmt::to_string(resources.ranks));
    if (resources.nodes > 1) add("--nodes", fmt::to_string(resources.nodes));
    if (of.verify != "changed") add("--verify", of.verify);
    if (!disk.empty()) add("--at", disk);
    if (of.no_fetch || request_.fetch == "none" || !site_.network) argv.emplace_back("--no-fetch");
    return argv;
  }

  void choose_tasks(const ResolvedRun& run) {
    made_.plan.at_once = request_.at_once;
    if (!run.is_sweep()) {
      if (request_.at_once)
        throw Error(FailureKind::usage, "one run is no array, so no number of tasks at once is asked for",
                    fmt::format("a sweep is one: {} KEY=A,B", option_text("set")));
      return;
    }
    if (request_.at_once == 0U)
      throw Error(FailureKind::usage, "no task of the array could run", "let one at least run");
    std::vector<std::string> keys;
    for (const std::string& text : request_.run.settings) keys.push_back(parse_setting(text).key);
    for (const Variant& variant : run.variants) {
      JobTask task{variant.name, {}};
      for (const std::string& key : keys)
        task.settings.insert(task.settings.end(), {"--set", key + "=" + escaped_commas(variant.config.at(key))});
      made_.record.tasks.push_back(task.name);
      made_.plan.tasks.push_back(std::move(task));
    }
  }

  void choose_variables() {
    warn_of_surroundings(request_.run.environment, *made_.scheduler, events_);
    const SessionSettings& settings = session_.settings();
    std::string stores = absolute_path(settings.store).string();
    for (const fs::path& other : settings.other_stores) stores += ":" + absolute_path(other).string();
    auto& variables = made_.plan.variables;
    variables.emplace_back("SABATH_STORE", stores);
    const Environment& environment = request_.run.environment;
    if (const auto recipes = environment.get("SABATH_RECIPES"))
      variables.emplace_back("SABATH_RECIPES", absolute_list(*recipes));
    for (const char* name : carried_variables) {
      if (const auto value = environment.get(name)) variables.emplace_back(name, settled(*value));
    }
  }

  void write_scripts() {
    const JobTemplate form = find_job_template(*made_.scheduler, request_.run.environment, made_.program);
    made_.script = job_script(made_.plan, *made_.scheduler, form);
    if (transfer_.empty()) return;
    JobPlan fetch;
    fetch.name = job_label("fetch_" + made_.plan.name);
    fetch.directory = made_.plan.directory / "fetch";
    fetch.variables = made_.plan.variables;
    fetch.fetch = transfer_;
    fetch.resources.partition = transfer_partition_;
    fetch.resources.account = made_.plan.resources.account;
    made_.fetch_script = job_script(fetch, *made_.scheduler, form);
  }

  Session& session_;
  const JobRequest& request_;
  EventSink& events_;
  const std::stop_token& stop_;
  RunRequest asked_;
  RunForecast forecast_;
  std::string environment_;  // the packed one, by its name; empty: there is none, or it has none
  SiteJobs site_;
  MadeJob made_;
  Words transfer_;  // the command of the job that fetches before
  std::string transfer_partition_;
};

}  // namespace

MadeJob make_job(Session& session, const JobRequest& request, EventSink& events, const std::stop_token& stop) {
  return JobMaker(session, request, events, stop).make();
}

}  // namespace sabath
