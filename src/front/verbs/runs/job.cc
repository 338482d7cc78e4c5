#include "sabath/verbs/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "harness/packed_choice.h"
#include "jobs/job_failure.h"
#include "jobs/job_queue.h"
#include "jobs/job_watch.h"
#include "sabath/comm.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/runs/job_fields.h"
#include "verbs/runs/job_host.h"
#include "verbs/runs/job_list.h"
#include "verbs/runs/job_making.h"
#include "verbs/runs/job_places.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr const char* script_file = "job.sh";
constexpr const char* after_hint =
    "give the id alone, as the scheduler gave it: 4711; the job starts if that one ends well";
constexpr auto cancelled_soon = std::chrono::milliseconds(3000), looked_again = std::chrono::milliseconds(300);
constexpr auto looked_for_obstacles_max = std::chrono::seconds(15);  // one answer may last longer

void refuse_used_directory(const fs::path& directory, std::span<const std::uint32_t> trusted) {
  if (!try_lstat(directory)) return;
  refuse_job_of_others(directory, trusted);
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
    if (request_.run.model.empty()) {
      record_.directory = absolute_path(".");
      record_.jobs = list_jobs_in(record_.directory, events_, stop_);
      return std::move(record_);
    }
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
    if (acts > 1 || (request_.wait && (request_.cancel || request_.dry_run))) {
      throw Error(FailureKind::usage,
                  "submit, status, cancel and a dry run exclude each other, and only a job that is or was submitted is "
                  "waited for",
                  fmt::format("say one of them; {} goes with {}, or is said alone", option_text("wait"),
                              option_text("submit")));
    }
    if (request_.run.model.empty() && (!request_.status || request_.wait)) {
      throw Error(FailureKind::usage, "a model is missing",
                  fmt::format("name one, or the directory of a job; `{} {}` alone lists the jobs that are here",
                              verb_text("job"), option_text("status")));
    }
    if (!request_.after.empty() && !is_job_id(request_.after))
      throw Error(FailureKind::usage, fmt::format("'{}' is no job's id", printable(request_.after)), after_hint);
    if (const Comm* ranks = session_.ranks(); ranks != nullptr && ranks->size() > 1)
      throw Error(FailureKind::usage, "a job is submitted by one process, not by ranks");
  }

  void make() {
    made_ = make_job(session_, request_, events_, stop_);
    if (!request_.after.empty() && !made_.scheduler->is_id(request_.after)) {
      throw Error(FailureKind::usage,
                  fmt::format("'{}' is no id of a job of {}", printable(request_.after), made_.scheduler->name),
                  after_hint);
    }
    record_.directory = made_.plan.directory;
    record_.scheduler = made_.scheduler->name;
    if (!made_.fetch_script.empty())
      record_.scripts.push_back({record_.directory / "fetch" / script_file, made_.fetch_script});
    record_.scripts.push_back({record_.directory / script_file, made_.script});
  }

  // False: it can never start, and is in the queue no more.
  bool submit() {
    refuse_kept_place(record_.directory, session_.settings(), request_.run.environment);
    refuse_used_directory(record_.directory, trusted());
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
    made_directory_ = !try_lstat(record_.directory);
    const HeldDirectory held = make_job_directory(record_.directory, trusted());
    std::optional<HeldDirectory> fetch;
    if (!made_.fetch_script.empty()) fetch = make_job_directory(held.path() / "fetch", trusted());
    for (const JobScriptText& script : record_.scripts)
      (script.file.parent_path() == record_.directory ? held : *fetch).write(script_file, script.text, 0755);
    if (!made_.lock.empty()) held.write(job_lock_file, made_.lock);
    made_.record.submitted = std::time(nullptr);
    write_submitted_job(held.path(), made_.record);  // a job without an id: it was not submitted
    std::string after = request_.after;
    try {
      if (!made_.fetch_script.empty()) {
        made_.record.fetch_id = queue.submit({fetch->path(), script_file, after, {}});
        after = made_.record.fetch_id;
        write_submitted_job(held.path(), made_.record);
      }
      submit_tasks(queue, held, after);
    } catch (const Error& error) {
      static_cast<void>(take_back());
      if (error.failure().kind != FailureKind::command) remove_unused();
      throw;
    }
    record_.ids = made_.record.ids;
    record_.fetch_id = made_.record.fetch_id;
    return !is_hopeless(queue);
  }

  void submit_tasks(const JobQueue& queue, const HeldDirectory& held, const std::string& after) {
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
          {held.path(), script_file, before, tasks > 1 ? std::optional<std::uint64_t>(task) : std::nullopt}));
      write_submitted_job(held.path(), made_.record);  // its id is known from here on
    }
    for (const std::string& id : made_.record.ids) {
      events_.on(event::Message{
          fmt::format("job {} is in the queue; its directory is {}", id, printable(record_.directory.native(), 1000))});
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

  // What was made for a job of which the queue has nothing.
  void remove_unused() const {
    if (!all_ids().empty()) return;
    std::error_code none;
    for (const JobScriptText& script : record_.scripts) fs::remove(script.file, none);
    for (const char* file : {job_lock_file, "job.json", "fetch"}) fs::remove(record_.directory / file, none);
    if (made_directory_) fs::remove(record_.directory, none);  // one that holds more stays
  }

  // What keeps the state of the job when its scheduler has forgotten it. The job itself needs it not.
  void note(JobWatch& watch, const std::string& reason, int code) {
    try {
      watch.note(JobState::cancelled, reason, code);
    } catch (const Error& error) {
      events_.on(event::Warning{fmt::format("it is not noted that it was cancelled: {}", error.failure().message)});
    }
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
      JobWatch watch(record_.directory, made_.record, queue);
      note(watch, reason, record_.exit);
      events_.on(event::Warning{record_.never});
      return true;
    }
    return false;
  }

  void find_submitted() {
    const fs::path named = request_.run.model;
    std::vector<fs::path> unread;
    auto job = try_read_submitted_job(named, trusted());
    record_.directory = absolute_path(named);
    if (!job) {
      const auto newest = newest_job_in(absolute_path("."), request_.run.model, unread, trusted());
      for (const fs::path& damaged : unread) {
        events_.on(event::Warning{
            fmt::format("{} is passed over: its job.json cannot be read", printable(damaged.native(), 1000))});
      }
      if (!newest) {
        throw Error(
            FailureKind::not_found, fmt::format("no job of {} was submitted here", printable(request_.run.model)),
            fmt::format("name the job's directory, or go to where {} {} made it: a script that was submitted by "
                        "hand is not known here",
                        verb_text("job"), option_text("submit")));
      }
      record_.directory = *newest;
      job = try_read_submitted_job(*newest, trusted());
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
    if (record_.ids.empty()) {  // it was ended when only the job that fetches was submitted
      if (request_.cancel) cancel_each();
      return;
    }
    JobWatch watch(record_.directory, made_.record, queue);
    if (request_.cancel) cancel(watch);
    record_.tasks = request_.wait ? watch.wait(events_, stop_) : watch.look();
    record_.fetch = watch.fetch();
    name_failures();
    record_.code = JobWatch::code_of(record_.tasks);
    if (request_.wait) record_.exit = record_.code.value_or(exit_code(FailureKind::command));
  }

  void name_failures() {
    const int of_fetch = record_.fetch ? record_.fetch->exit.value_or(0) : 0;
    if (of_fetch != 0) record_.fetch->failure = what_failed(*record_.fetch, {});
    for (JobTaskRecord& task : record_.tasks) {
      task.failure = what_failed(task, record_.directory / "runs" / (task.name.empty() ? "run" : task.name));
      if (task.starts == 0 && task.exit.value_or(0) != 0 && of_fetch != 0)
        task.failure = fmt::format("its fetch, job {}, failed", record_.fetch_id);
    }
  }

  void cancel(JobWatch& watch) {
    static_cast<void>(watch.look());
    const std::string& id = record_.ids.front();
    if (watch.has_ended()) {
      events_.on(event::Message{fmt::format("nothing is cancelled: job {} has ended", id)});
      return;
    }
    cancel_each();
    note(watch, "", exit_code(FailureKind::terminated));
    const auto begin = std::chrono::steady_clock::now();
    for (bool again = true; again; again = !stop_.stop_requested()) {
      static_cast<void>(watch.look());
      if (watch.has_ended()) {
        events_.on(event::Message{fmt::format("job {} is cancelled", id)});
        return;
      }
      if (std::chrono::steady_clock::now() - begin > cancelled_soon) break;
      std::this_thread::sleep_for(looked_again);
    }
    events_.on(event::Message{
        fmt::format("job {} is being cancelled: the scheduler gives its programs some time to end", id)});
  }

  void cancel_each() {
    const auto failures = cancel_all(*made_.scheduler, all_ids());
    if (failures.empty()) return;
    for (const std::string& failure : failures) events_.on(event::Warning{failure});
    throw Error(FailureKind::command,
                fmt::format("{} of {} jobs could not be cancelled", failures.size(), all_ids().size()),
                "cancel again, or with the scheduler's own program");
  }

  // Who may own directories above that of a job.
  [[nodiscard]] std::span<const std::uint32_t> trusted() const { return session_.settings().trusted_owners; }

  Session& session_;
  const JobRequest& request_;
  EventSink& events_;
  const std::stop_token& stop_;
  MadeJob made_;
  bool made_directory_ = false;
  JobRecord record_;
};

}  // namespace

JobRecord work_on_job(Session& session, const JobRequest& request, EventSink& events, std::stop_token stop) {
  if (!request.host.empty()) return work_on_job_of_host(session, request, events, stop);
  JobRequest settled = request;
  settled.run = settled_request(std::move(settled.run));
  return JobCall(session, settled, events, stop).perform();
}

std::string to_json(const JobRecord& record) { return record_text(record); }

extern constexpr LibraryVerb job_call = described<work_on_job>("job");

}  // namespace sabath
