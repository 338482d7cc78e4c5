#include "sabath/verbs/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "jobs/job_queue.h"
#include "jobs/job_watch.h"
#include "sabath/comm.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/runs/job_making.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr const char* script_file = "job.sh";
constexpr auto looked_for_obstacles_max = std::chrono::seconds(15);  // one answer may last longer

void refuse_used_directory(const fs::path& directory) {
  if (!try_lstat(directory)) return;
  refuse_job_of_others(directory);
  std::error_code none;
  if (fs::is_directory(directory, none) && fs::is_empty(directory, none)) return;
  throw Error(FailureKind::usage, fmt::format("{} is there already", printable(directory.native(), 1000)),
              "name another directory, or none: then one is made");
}

class JobCall {
 public:
  JobCall(Session& session, const JobRequest& request, EventSink& events, const std::stop_token& stop)
      : session_(session), request_(request), events_(events), stop_(stop) {}

  JobRecord perform() {
    refuse_contradictions();
    if (!request_.submit && (request_.status || request_.wait || request_.cancel)) {
      find_submitted();
    } else {
      make();
      if (!request_.submit || !submit()) return std::move(record_);
    }
    if (request_.submit && !request_.wait) return std::move(record_);
    follow();
    return std::move(record_);
  }

 private:
  void refuse_contradictions() const {
    const int acts = request_.submit + request_.status + request_.cancel + request_.dry_run;
    if (acts > 1 || (request_.wait && (request_.cancel || request_.status || request_.dry_run))) {
      throw Error(FailureKind::usage,
                  "submit, status, cancel and a dry run exclude each other, and only a submitted job is waited for",
                  "say one of them");
    }
    if (!request_.after.empty() && !is_job_id(request_.after))
      throw Error(FailureKind::usage, fmt::format("'{}' is no job's id", printable(request_.after)));
    if (const Comm* ranks = session_.ranks(); ranks != nullptr && ranks->size() > 1)
      throw Error(FailureKind::usage, "a job is submitted by one process, not by ranks");
  }

  void make() {
    made_ = make_job(session_, request_, events_, stop_);
    if (!request_.after.empty() && !made_.scheduler->is_id(request_.after)) {
      throw Error(FailureKind::usage,
                  fmt::format("'{}' is no id of a job of {}", printable(request_.after), made_.scheduler->name));
    }
    record_.directory = made_.plan.directory;
    record_.scheduler = made_.scheduler->name;
    if (!made_.fetch_script.empty())
      record_.scripts.push_back({record_.directory / "fetch" / script_file, made_.fetch_script});
    record_.scripts.push_back({record_.directory / script_file, made_.script});
  }

  // False: it can never start, and is in the queue no more.
  bool submit() {
    refuse_used_directory(record_.directory);
    if (made_.fetch_here) {
      const FetchRecord fetched = session_.fetch(made_.fetch, events_, stop_);
      if (fetched.exit != 0) {
        record_.exit = fetched.exit;
        for (const AssetRecord& asset : fetched.assets) {
          for (const FileFailure& failed : asset.failures)
            events_.on(event::Warning{fmt::format("{}: {}", asset.name, failed.failure.message)});
        }
        events_.on(event::Warning{"nothing was submitted: the fetch before it failed"});
        return false;
      }
    }
    const JobQueue queue(*made_.scheduler, stop_);
    make_job_directory(record_.directory);
    for (const JobScriptText& script : record_.scripts) {
      if (script.file.parent_path() != record_.directory) make_job_directory(script.file.parent_path());
      write_text_atomically(script.file, script.text, 0755);
    }
    made_.record.submitted = std::time(nullptr);
    write_submitted_job(record_.directory, made_.record);  // a job without an id: it was not submitted
    std::string after = request_.after;
    try {
      if (!made_.fetch_script.empty()) {
        made_.record.fetch_id = queue.submit({record_.directory / "fetch", script_file, after, {}});
        after = made_.record.fetch_id;
        write_submitted_job(record_.directory, made_.record);
      }
      submit_tasks(queue, after);
    } catch (const Error&) {
      static_cast<void>(take_back());
      throw;
    }
    record_.ids = made_.record.ids;
    record_.fetch_id = made_.record.fetch_id;
    return !is_hopeless(queue);
  }

  void submit_tasks(const JobQueue& queue, const std::string& after) {
    const std::size_t tasks = queue.scheduler().arrays ? 1 : std::max<std::size_t>(made_.plan.tasks.size(), 1);
    for (std::size_t task = 0; task < tasks; ++task) {
      if (stop_.stop_requested()) {
        throw Error(FailureKind::interrupted,
                    fmt::format("stopped when {} of {} jobs were in the queue", made_.record.ids.size(), tasks),
                    "they were cancelled, but for those that a warning names");
      }
      const bool chained = made_.plan.at_once && task >= *made_.plan.at_once;
      const std::string before = chained ? "afterany:" + made_.record.ids[task - *made_.plan.at_once] : after;
      made_.record.ids.push_back(queue.submit(
          {record_.directory, script_file, before, tasks > 1 ? std::optional<std::uint64_t>(task) : std::nullopt}));
      write_submitted_job(record_.directory, made_.record);  // its id is known from here on
    }
    for (const std::string& id : made_.record.ids) {
      events_.on(event::Message{
          fmt::format("job {} is in the queue; {} tells of it", id, printable(record_.directory.native(), 1000))});
    }
  }

  [[nodiscard]] std::vector<std::string> all_ids() const {
    std::vector<std::string> ids = made_.record.ids;
    if (!made_.record.fetch_id.empty()) ids.insert(ids.begin(), made_.record.fetch_id);
    return ids;
  }

  // What was submitted before a submission failed, or before a stop request, which does not hold for this.
  // False: some may go on.
  bool take_back() {
    const auto failures = cancel_all(*made_.scheduler, all_ids());
    for (const std::string& failure : failures) events_.on(event::Warning{failure});
    return failures.empty();
  }

  bool is_hopeless(const JobQueue& queue) {
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& id : all_ids()) {
      if (std::chrono::steady_clock::now() - begin > looked_for_obstacles_max) break;  // it does not answer, or slowly
      std::string reason;
      const auto obstacle = queue.obstacle(id, reason);
      // A fetch that fails this soon has a code of its own: who waits, or asks, gets it.
      if (!obstacle || (obstacle->kind == FailureKind::command && !record_.fetch_id.empty() && id != record_.fetch_id))
        continue;
      record_.never = fmt::format("job {} can never start: {} ({}); it {} taken from the queue", id, obstacle->what,
                                  reason, take_back() ? "was" : "could not be");
      record_.exit = exit_code(obstacle->kind);
      events_.on(event::Warning{record_.never});
      return true;
    }
    return false;
  }

  void find_submitted() {
    const fs::path named = request_.run.model;
    std::vector<fs::path> unread;
    auto job = try_read_submitted_job(named);
    record_.directory = absolute_path(named);
    if (!job) {
      const auto newest = newest_job_in(absolute_path("."), request_.run.model, unread);
      for (const fs::path& damaged : unread) {
        events_.on(event::Warning{
            fmt::format("{} is passed over: its job.json cannot be read", printable(damaged.native(), 1000))});
      }
      if (!newest) {
        throw Error(FailureKind::not_found,
                    fmt::format("no job of {} was submitted here", printable(request_.run.model)),
                    "name the job's directory, or go to where it was submitted");
      }
      record_.directory = *newest;
      job = try_read_submitted_job(*newest);
    }
    made_.record = std::move(*job);
    const bool only_fetches =
        request_.cancel && !made_.record.fetch_id.empty();  // it was ended before it submitted more
    if (made_.record.ids.empty() && !only_fetches)
      throw Error(FailureKind::not_found,
                  fmt::format("the job of {} was never submitted", printable(record_.directory.native(), 1000)));
    made_.scheduler = find_job_scheduler(made_.record.scheduler);
    if (made_.scheduler == nullptr)
      throw Error(FailureKind::invalid,
                  fmt::format("{} names no scheduler that is known", printable(record_.directory.native(), 1000)));
    record_.scheduler = made_.scheduler->name;
    record_.ids = made_.record.ids;
    record_.fetch_id = made_.record.fetch_id;
    for (const std::string& id : all_ids()) {
      if (made_.scheduler->is_id(id)) continue;
      throw Error(FailureKind::invalid, fmt::format("'{}' is no id of a job of {}", printable(id), record_.scheduler),
                  "the job.json is damaged: ask the scheduler itself");
    }
  }

  void follow() {
    const JobQueue queue(*made_.scheduler, stop_);
    if (request_.cancel) cancel();
    if (record_.ids.empty()) return;
    JobWatch watch(record_.directory, made_.record, queue);
    record_.tasks = request_.wait ? watch.wait(events_, stop_) : watch.look();
    record_.code = JobWatch::code_of(record_.tasks);
    if (request_.wait) record_.exit = record_.code.value_or(exit_code(FailureKind::command));
  }

  void cancel() {
    const auto failures = cancel_all(*made_.scheduler, all_ids());
    if (failures.empty()) return;
    for (const std::string& failure : failures) events_.on(event::Warning{failure});
    throw Error(FailureKind::command,
                fmt::format("{} of {} jobs could not be cancelled", failures.size(), all_ids().size()),
                "cancel again, or with the scheduler's own program");
  }

  Session& session_;
  const JobRequest& request_;
  EventSink& events_;
  const std::stop_token& stop_;
  MadeJob made_;
  JobRecord record_;
};

}  // namespace

JobRecord work_on_job(Session& session, const JobRequest& request, EventSink& events, std::stop_token stop) {
  return JobCall(session, request, events, stop).perform();
}

template <>
struct Described<JobRequest> {
  using Of = JobRequest;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("model", run.model, .help = "a model or workflow; of a submitted job its directory or its model",
                      .required = true, .argument = "MODEL"),
      SABATH_FIELD_AS("dataset", run.dataset, .help = "what it runs on (default: the recipe's)", .argument = "DATASET"),
      SABATH_FIELD(dry_run, .help = "print the script, and touch nothing; the same without --submit", .letter = 'n'),
      SABATH_FIELD(submit, .help = "put it into the queue"),
      SABATH_FIELD(wait, .help = "until it has ended; its exit code is this command's"),
      SABATH_FIELD(status, .help = "say how a submitted job does"),
      SABATH_FIELD(cancel, .help = "take a submitted job from the queue, or end it"),
      SABATH_FIELD(scheduler, .help = "the batch system (default: the site profile's, else the one in PATH)",
                   .words = "slurm|pbs|flux|lsf"),
      SABATH_FIELD_AS("nodes", run.nodes, .help = "nodes (default: 1)", .maximum = 1U << 20U, .value = "N"),
      SABATH_FIELD_AS("ranks", run.ranks, .help = "ranks of the steps that are parallel, on all nodes together",
                      .maximum = 1U << 20U, .value = "N"),
      SABATH_FIELD(cores, .help = "cores of each rank", .maximum = 1U << 16U, .value = "N"),
      SABATH_FIELD(gpus, .help = "GPUs of each node", .maximum = 1U << 10U, .value = "N"),
      SABATH_FIELD_AS("memory", memory_bytes, .help = "memory of each node, such as 64GB", .unit = "bytes",
                      .value = "SIZE"),
      SABATH_FIELD(time, .help = "how long it may take, such as 2h30m (default: by plan and earlier runs here)",
                   .value = "TIME"),
      SABATH_FIELD(partition, .help = "partition or queue (default: the site profile's, else the scheduler's)",
                   .value = "NAME"),
      SABATH_FIELD(account, .help = "account, project or bank that pays", .value = "NAME"),
      SABATH_FIELD(after, .help = "start after this job, if it ends well", .value = "ID"),
      SABATH_FIELD(at_once, .help = "of a sweep: how many of its runs at the same time", .maximum = 1000, .value = "N"),
      SABATH_FIELD(fetch,
                   .help = "where data that are not here are fetched: in the job, in a job on the transfer partition "
                           "before it, by this command, or nowhere (default: as the site profile says)",
                   .words = "job|transfer|login|none"),
      SABATH_FIELD(transfer_partition, .help = "whose nodes see the internet", .value = "NAME"),
      SABATH_FIELD_AS("stage_to", stage,
                      .help = "stage the dataset to this directory of each node's disk; none: do not", .value = "DIR"),
      SABATH_FIELD(cap, .help = "how much may stay on a node's disk after the job, such as 500GB", .value = "SIZE"),
      SABATH_FIELD_AS("job_dir", run.directory,
                      .help = "the job's directory (default: job_MODEL_DATASET_ID in the working directory)",
                      .value = "DIR"),
      SABATH_FIELD_AS("set", run.settings, .help = "a setting of the recipe; KEY=A,B makes one run for each value",
                      .value = "KEY=VALUE"),
      SABATH_FIELD_AS("set_from", run.settings_file, .help = "settings from a JSON or YAML file; --set wins",
                      .value = "FILE"),
      SABATH_FIELD_AS("mode", run.mode, .help = "which run set of the recipe", .words = "train|infer"),
      SABATH_FIELD_AS("run_set", run.run_set, .help = "the run set with this key (default: the dataset's)",
                      .value = "KEY"),
      SABATH_FIELD_AS("from", run.from, .help = "an asset that the program starts from, as of `sabath run`",
                      .value = "ASSET"),
      SABATH_FIELD_AS("env", run.requirements, .help = "modules and packages that the recipe needs, as of `sabath run`",
                      .words = "none|warn|check|create"),
      SABATH_FIELD_AS("checks", run.checks, .help = "what the recipe asks of the machine first, as of `sabath run`",
                      .words = "refuse|warn|none"),
      SABATH_FIELD_AS("launcher", run.launcher, .help = "auto, or a launcher of the site profile", .value = "NAME"),
      SABATH_FIELD_AS("container", run.container, .help = "run in a container, as of `sabath run`",
                      .value = "KIND:IMAGE"),
      SABATH_FIELD_AS("site", run.site, .help = "the site profile (default: SABATH_SITE, else by the host's name)",
                      .value = "NAME"),
      SABATH_FIELD_AS("trust", run.trust,
                      .help = "trust code that is not trusted yet, from now on (docs/trust.md): a queue cannot answer",
                      .words = "commit|origin"),
      SABATH_FIELD_AS("arguments", run.arguments, .help = "arguments for the recipe's last step", .argument = "-- ARG"),
      SABATH_FIELD_AS("environment", run.environment,
                      .help = "the variables that say where configuration and scheduler are; absent: those of this "
                              "process",
                      .hidden = true),
  };
};

template <>
struct Described<JobScriptText> {
  using Of = JobScriptText;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "where it is, or would be"),
      SABATH_FIELD(text, .help = "all of it"),
  };
};

template <>
struct Described<JobTaskRecord> {
  using Of = JobTaskRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(task, .help = "its number, from 0"),
      SABATH_FIELD(name, .help = "of its run; null: there is one run only", .null_if_empty = true),
      SABATH_FIELD(state, .help = "waiting, running, ended, cancelled, timed out, failed, its node failed, or gone"),
      SABATH_FIELD(reason, .help = "why it waits, as the scheduler says", .null_if_empty = true),
      SABATH_FIELD(steps, .help = "the exit code of each step that has ended"),
      SABATH_FIELD(exit, .help = "its exit code; null: it has not ended"),
      SABATH_FIELD(starts, .help = "how often it began: more than once if it was queued again"),
  };
};

template <>
struct Described<JobRecord> {
  using Of = JobRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "of the job"),
      SABATH_FIELD(scheduler, .help = "slurm, pbs, flux or lsf"),
      SABATH_FIELD(ids, .help = "as the scheduler calls the job; none: it was not submitted"),
      SABATH_FIELD(fetch_id, .help = "the job that fetches before", .null_if_empty = true),
      SABATH_FIELD(scripts, .help = "that were made by this call"),
      SABATH_FIELD(tasks, .help = "how the job does; none: it was not asked"),
      SABATH_FIELD(never, .help = "why it can never start; it is not in the queue any more", .null_if_empty = true),
      SABATH_FIELD(code, .help = "the job's own exit code: of its first task that failed; null: it has not ended"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const JobRecord& record) { return record_text(record); }

extern constexpr LibraryVerb job_call = described<work_on_job>("job");

}  // namespace sabath
