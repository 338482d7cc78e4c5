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

constexpr std::string_view waiting = "waiting", running = "running", ended = "ended";
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
    : directory_(std::move(directory)), job_(std::move(job)), queue_(queue) {
  tasks_.resize(std::max<std::size_t>(job_.tasks.size(), 1));
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    tasks_[i].task = i;
    if (!job_.tasks.empty()) tasks_[i].name = job_.tasks[i];
    tasks_[i].state = waiting;
  }
}

void JobWatch::read_ends() {
  for (JobTaskRecord& task : tasks_) {
    if (task.exit == 0) continue;
    const JobTaskEnd end = read_job_end(directory_, task.task);
    task.steps.clear();
    for (const auto& [step, status] : end.steps) task.steps.emplace_back(step, static_cast<std::uint64_t>(status));
    task.starts = end.begun;
    task.exit.reset();
    if (end.code) task.exit = code_of_job_end(*end.code);
    if (task.exit == 0) {
      task.state = ended;
      task.reason.clear();
    }
    if (!task.exit && end.begun > 0 && task.state == waiting && !queue_.scheduler().arrays) task.state = running;
  }
}

void JobWatch::take(const std::vector<JobTaskState>& states, std::size_t id) {
  for (const JobTaskState& each : states) {
    const std::uint64_t number = job_.ids.size() > 1 ? id : each.task.value_or(0);
    if (number >= tasks_.size() || tasks_[number].exit == 0) continue;
    tasks_[number].state = job_state_text(each.state);
    tasks_[number].reason = each.reason == "None" ? "" : each.reason;
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

std::optional<int> JobWatch::code_of_fetch() const {
  if (job_.fetch_id.empty()) return std::nullopt;
  const JobTaskEnd end = read_job_end(directory_ / "fetch", 0);
  return end.code ? std::optional(code_of_job_end(*end.code)) : std::nullopt;
}

void JobWatch::note_silence() {
  for (JobTaskRecord& task : tasks_) {
    if (task.exit) continue;
    task.state = task.starts > 0 ? running : waiting;
    task.reason = silent;
  }
}

void JobWatch::settle() {
  const int of_fetch = code_of_fetch().value_or(0);
  for (JobTaskRecord& task : tasks_) {
    if (!is_over(task.state) || task.exit) continue;
    task.exit = task.starts == 0 && of_fetch != 0 ? of_fetch : code_of_state(task.state);
  }
}

std::vector<JobTaskRecord> JobWatch::look() {
  read_ends();
  if (!ask_scheduler()) {
    note_silence();
    return tasks_;
  }
  for (JobTaskRecord& task : tasks_) {
    if (lives(task)) task.exit.reset();  // queued again after that
  }
  settle();
  for (JobTaskRecord& task : tasks_) {
    if (task.exit && task.state == job_state_text(JobState::gone)) task.state = ended;
  }
  return tasks_;
}

void JobWatch::tell(EventSink& events) {
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
  if (std::exchange(said_, text) != text) events.on(event::Message{fmt::format("job {}: {}", job_.ids.front(), text)});
}

void JobWatch::leave_job() const {
  throw Error(FailureKind::interrupted, fmt::format("nothing waits for job {} any more; it goes on", job_.ids.front()),
              fmt::format("`{} {} {}` shows it later", verb_text("job"), printable(directory_.native(), 1000),
                          option_text("status")));
}

// A stop request may come while the scheduler's program runs: that is no matter of the program.
bool JobWatch::ask_while_waiting() {
  try {
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
  for (;;) {
    read_ends();
    if (std::ranges::all_of(tasks_, [](const JobTaskRecord& task) { return task.exit == 0; })) break;
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
  for (JobTaskRecord& task : tasks_) {
    if (task.exit && (task.state == job_state_text(JobState::gone) || !is_over(task.state))) task.state = ended;
  }
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
