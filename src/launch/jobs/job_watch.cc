#include "jobs/job_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
constexpr auto look_at_files = milliseconds(200);
constexpr auto ask_first = milliseconds(1000), ask_later = milliseconds(10'000);
constexpr auto silence_max = std::chrono::minutes(5);  // of the scheduler, where all tasks have written their ends
constexpr auto files_come_late = milliseconds(2000);   // of a shared filesystem, after the job's end

constexpr std::string_view waiting = job_state_texts[0], running = job_state_texts[1], ended = job_state_texts[2],
                           failed_state = job_state_texts[6];
constexpr std::string_view silent = "the scheduler does not answer";

bool is_over(std::string_view state) { return state != waiting && state != running; }

int code_of_state(std::string_view state) {
  if (state == job_state_text(JobState::cancelled) || state == job_state_text(JobState::timed_out))
    return exit_code(FailureKind::terminated);
  if (state == job_state_text(JobState::node_failed)) return exit_code(FailureKind::nodes);
  return exit_code(FailureKind::command);
}

}  // namespace

JobWatch::JobWatch(std::filesystem::path directory, SubmittedJob job, const JobQueue& queue)
    : directory_(std::move(directory)), job_(std::move(job)), queue_(queue), seen_(directory_) {
  tasks_.resize(std::max<std::size_t>(job_.tasks.size(), 1));
  again_.resize(tasks_.size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    tasks_[i].task = i;
    if (!job_.tasks.empty()) tasks_[i].name = job_.tasks[i];
    tasks_[i].state = waiting;
  }
  if (job_.fetch_id.empty()) return;
  SubmittedJob fetch;
  fetch.ids = {job_.fetch_id};
  fetch_ = std::make_unique<JobWatch>(directory_ / "fetch", fetch, queue_);
}

void JobWatch::read_ends() {
  for (JobTaskRecord& task : tasks_) {
    if (task.exit == 0) continue;
    const JobTaskEnd end = read_job_end(directory_, task.task);
    task.steps.clear();
    for (const auto& [step, status] : end.steps) task.steps.emplace_back(step, static_cast<std::uint64_t>(status));
    task.starts = end.begun;
    task.exit.reset();
    if (end.code && (end.begun == 0 || again_[task.task] != end.begun)) task.exit = code_of_job_end(*end.code);
    if (task.exit == 0) {
      task.state = ended;
      task.reason.clear();
    }
    if (!task.exit && end.begun > 0 && task.state == waiting && !queue_.scheduler().arrays) task.state = running;
  }
  if (fetch_) fetch_->read_ends();
}

void JobWatch::take_one(JobTaskRecord& task, const JobTaskState& said) {
  const bool waits = said.state == JobState::waiting;
  if (task.exit == 0 && !waits) return;  // its script has written it, and the scheduler is slower
  // One that has ended and waits is queued again.
  again_[task.task] = waits && (task.exit || again_[task.task] == task.starts) ? task.starts : 0;
  if (waits) task.exit.reset();
  task.state = job_state_text(said.state);
  task.reason = said.reason == "None" ? "" : said.reason;
}

void JobWatch::take(const std::vector<JobTaskState>& states, std::size_t id) {
  for (const JobTaskState& each : states) {
    const std::uint64_t number = job_.ids.size() > 1 ? id : each.task.value_or(0);
    if (number < tasks_.size()) take_one(tasks_[number], each);
  }
}

bool JobWatch::ask_scheduler() {
  std::vector<std::vector<JobTaskState>> answers;
  for (std::size_t i = 0; i < job_.ids.size(); ++i) {
    const bool needed = job_.ids.size() == 1 || (i < tasks_.size() && tasks_[i].exit != 0);
    auto states = needed ? queue_.states(job_.ids[i]) : std::vector<JobTaskState>();
    if (!states) return false;
    answers.push_back(std::move(*states));
  }
  for (JobTaskRecord& task : tasks_) {
    if (task.exit != 0) task.state = job_state_text(JobState::gone);
    if (task.reason == silent) task.reason.clear();
  }
  for (std::size_t i = 0; i < answers.size(); ++i) take(answers[i], i);
  return true;
}

bool JobWatch::lives(const JobTaskRecord& task) const { return task.exit != 0 && !is_over(task.state); }

bool JobWatch::has_ended() const {
  const bool of_tasks = std::ranges::all_of(tasks_, [](const JobTaskRecord& task) { return task.exit.has_value(); });
  return of_tasks && (!fetch_ || fetch_->has_ended());
}

std::optional<JobTaskRecord> JobWatch::fetch() const {
  return fetch_ ? std::optional(fetch_->tasks_.front()) : std::nullopt;
}

void JobWatch::note(JobState state, const std::string& reason, int exit) {
  for (const JobTaskRecord& task : tasks_) {
    if (!task.exit) seen_.note(task.task, {std::string(job_state_text(state)), reason, exit, task.starts});
  }
  seen_.save();
  if (fetch_) fetch_->note(state, reason, exit);
}

void JobWatch::note_silence() {
  for (JobTaskRecord& task : tasks_) {
    if (task.exit) continue;
    task.state = task.starts > 0 ? running : waiting;
    task.reason = silent;
  }
}

void JobWatch::settle(JobTaskRecord& task) {
  const SeenEnd* const seen = seen_.find(task.task, task.starts);
  const bool gone = task.state == job_state_text(JobState::gone), is_said = is_over(task.state) && !gone;
  if (task.exit) {  // its script wrote it
    if (gone || !is_over(task.state)) task.state = *task.exit == 0 ? ended : seen ? seen->state : failed_state;
    if (gone && *task.exit != 0 && seen != nullptr) task.reason = seen->reason;
  } else if (seen != nullptr && (is_over(task.state) || task.reason == silent)) {
    task.state = seen->state;
    task.reason = seen->reason;
    task.exit = seen->exit;
  } else if (is_over(task.state)) {
    const auto of_fetch = fetch_ ? fetch_->tasks_.front().exit.value_or(0) : 0;
    task.exit = task.starts == 0 && of_fetch != 0 ? of_fetch : code_of_state(task.state);
  }
  if (task.exit.value_or(0) != 0 && is_said)
    seen_.note(task.task, {task.state, printable(task.reason, 200), *task.exit, task.starts});
}

void JobWatch::settle() {
  if (fetch_) fetch_->settle();
  for (JobTaskRecord& task : tasks_) settle(task);
  try {
    seen_.save();
  } catch (const Error&) {}  // what the user asked for is the answer; the next look notes it
}

std::vector<JobTaskRecord> JobWatch::look() {
  if (fetch_) static_cast<void>(fetch_->look());
  read_ends();
  if (ask_scheduler()) {
    for (JobTaskRecord& task : tasks_) {
      if (lives(task)) task.exit.reset();  // queued again after that
    }
  } else {
    note_silence();
  }
  settle();
  return tasks_;
}

std::vector<JobTaskRecord> JobWatch::look_at_ends() {
  if (fetch_) static_cast<void>(fetch_->look_at_ends());
  read_ends();
  note_silence();
  settle();
  return tasks_;
}

bool JobWatch::is_silent() const { return std::ranges::find(tasks_, silent, &JobTaskRecord::reason) != tasks_.end(); }

std::string JobWatch::summary() const {
  std::map<std::string, std::size_t> counts;
  for (const JobTaskRecord& task : tasks_) {
    const bool why = !task.reason.empty() && (task.state == waiting || task.reason == silent);
    ++counts[why ? fmt::format("{} ({})", task.state, printable(task.reason)) : task.state];
  }
  std::string text;
  for (const auto& [state, count] : counts) {
    text += text.empty() ? "" : ", ";
    text += tasks_.size() == 1 ? state : fmt::format("{} {}", count, state);
  }
  return text;
}

void JobWatch::tell(EventSink& events) {
  std::string text = fmt::format("job {}: {}", job_.ids.front(), summary());
  if (fetch_ && fetch_->tasks_.front().exit != 0)
    text += fmt::format("; its fetch, job {}: {}", job_.fetch_id, fetch_->summary());
  if (std::exchange(said_, text) != text) events.on(event::Message{text});
}

void JobWatch::leave_job() const {
  throw Error(FailureKind::interrupted, fmt::format("nothing waits for job {} any more; it goes on", job_.ids.front()),
              fmt::format("`{} {} {}` shows it later", verb_text("job"), printable(directory_.native(), 1000),
                          option_text("status")));
}

// A stop request may come while the scheduler's program runs: that is no matter of the program.
bool JobWatch::ask_while_waiting() {
  try {
    const bool is_before = fetch_ && !fetch_->tasks_.front().exit;
    if (is_before && !fetch_->ask_scheduler()) fetch_->note_silence();
    if (is_before) fetch_->settle();
    return ask_scheduler();
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) leave_job();
    throw;
  }
}

std::vector<JobTaskRecord> JobWatch::wait(EventSink& events, const std::stop_token& stop) {
  auto pause = ask_first;
  auto next = steady_clock::now();
  std::optional<steady_clock::time_point> over;
  auto answer = steady_clock::now();  // the last one
  // One that had ended before may be in the queue again.
  read_ends();
  const auto is_well = [](const JobTaskRecord& task) { return task.exit == 0; };
  if (std::ranges::all_of(tasks_, is_well) && !ask_while_waiting()) note_silence();
  for (;;) {
    read_ends();
    if (std::ranges::all_of(tasks_, is_well)) break;
    // The script of a job that is queued again may have written its end: the scheduler knows.
    const bool written = std::ranges::all_of(tasks_, [](const JobTaskRecord& task) { return task.exit.has_value(); });
    if (steady_clock::now() >= next) {
      const bool answered = ask_while_waiting();
      if (answered) {
        answer = steady_clock::now();
      } else {
        note_silence();
      }
      tell(events);
      if (written && steady_clock::now() - answer >= silence_max) break;
      if (answered && std::ranges::none_of(tasks_, [&](const JobTaskRecord& task) { return lives(task); })) {
        if (!over) over = steady_clock::now();
        if (written || steady_clock::now() - *over >= files_come_late) break;
      } else {
        over.reset();
      }
      pause = over || written ? ask_first : std::min(2 * pause, ask_later);
      next = steady_clock::now() + pause;
    } else if (written && next > steady_clock::now() + ask_first) {
      next = steady_clock::now();
    }
    if (stop.stop_requested()) leave_job();
    std::this_thread::sleep_for(look_at_files);
  }
  read_ends();
  settle();
  tell(events);
  return tasks_;
}

std::optional<int> JobWatch::code_of(const std::vector<JobTaskRecord>& tasks) {
  int code = 0;
  for (const JobTaskRecord& task : tasks) {
    if (!task.exit) return std::nullopt;
    if (code == 0) code = *task.exit;
  }
  return code;
}

}  // namespace sabath
