#include "jobs/job_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/process.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using std::chrono::milliseconds;
constexpr auto submission_max = std::chrono::seconds(60);
constexpr auto cancelling_max = std::chrono::minutes(5);  // of all jobs together
constexpr std::size_t answer_bytes_max = 4 << 20;
constexpr auto look_again = milliseconds(200);
// A scheduler that thinks longer says "None", and the job is left in peace. Slurm's first reason may be another one.
constexpr int looks_max = 25, looks_at_reason = 3, looks_at_first_reason = 12;
constexpr std::string_view first_reason = "PartitionConfig";

CommandResult ask(std::vector<std::string> argv, const std::filesystem::path& directory, milliseconds answer_max,
                  const std::stop_token& stop) {
  // Flux then writes its ids in ASCII.
  return run_command({.argv = std::move(argv),
                      .environment = {{"FLUX_F58_FORCE_ASCII", "1"}},
                      .directory = directory,
                      .deadline = answer_max,
                      .output_max = answer_bytes_max},
                     stop);
}

// Its lines behind one another, as messages are one line.
std::string printable_line(std::string_view text, std::size_t most) {
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view part = trim(text.substr(0, end));
    if (!part.empty()) line += fmt::format("{}{}", line.empty() ? "" : "; ", printable(part, most));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return line;
}

std::string last_words(const CommandResult& result) {
  const std::string_view said = trim(result.err.empty() ? result.out : result.err);
  return printable_line(said.substr(said.size() > 1000 ? said.size() - 1000 : 0), 1000);
}

// squeue names the cluster above its jobs, of which there may be none.
bool says_something(std::string_view out) {
  while (!out.empty()) {
    const std::size_t end = std::min(out.find('\n'), out.size());
    const std::string_view line = trim(out.substr(0, end));
    if (!line.empty() && !line.starts_with("CLUSTER: ")) return true;
    out.remove_prefix(std::min(end + 1, out.size()));
  }
  return false;
}

}  // namespace

void JobQueue::refuse_no_id(const std::string& id) const {
  constexpr std::string_view of_task = "afterany:";  // of a task that waits for another one
  if (scheduler_.is_id(id.starts_with(of_task) ? std::string_view(id).substr(of_task.size()) : id)) return;
  throw Error(FailureKind::invalid, fmt::format("'{}' is no id of a job of {}", printable(id), scheduler_.name),
              "name one that the scheduler gave");
}

std::string JobQueue::submit(const JobSubmission& submission) const {
  if (!submission.after.empty()) refuse_no_id(submission.after);
  CommandResult result;
  try {
    result = ask(scheduler_.submit(submission.script, submission.after, submission.task), submission.directory,
                 submission_max, {});
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::command || !error.failure().hint.empty()) throw;
    throw Error(FailureKind::command, error.failure().message,
                "if it has started at all, the job may be in the queue: look there");
  }
  if (result.status != 0) {
    throw Error(FailureKind::usage, fmt::format("{} refuses the job: {}", scheduler_.program, last_words(result)),
                "nothing was submitted; change what it names");
  }
  std::string id = scheduler_.id_in(result.out);
  if (!scheduler_.is_id(id)) {
    throw Error(
        FailureKind::command,
        fmt::format("{} names no job: {}", scheduler_.program, printable_line(trim(result.out).substr(0, 200), 200)),
        "look for the job in its queue");
  }
  return id;
}

std::optional<std::vector<JobTaskState>> JobQueue::states(const std::string& id) const {
  refuse_no_id(id);
  CommandResult result;
  try {
    result = ask(scheduler_.ask(id), {}, answer_max_, stop_);
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted)
      throw Error(FailureKind::interrupted, fmt::format("stopped before the scheduler said how job {} does", id));
    if (error.failure().kind != FailureKind::command) throw;
    return std::nullopt;  // its program hangs, or is missing
  }
  if (result.status != 0) {
    const bool unknown = result.err.find(scheduler_.unknown) != std::string::npos;
    return unknown ? std::optional(std::vector<JobTaskState>()) : std::nullopt;
  }
  auto states = scheduler_.states_in(result.out);
  if (states.empty() && says_something(result.out)) return std::nullopt;
  for (JobTaskState& state : states) {
    state.word = printable(state.word);
    state.reason = printable(state.reason);
  }
  return states;
}

std::optional<JobObstacle> JobQueue::obstacle(const std::string& id, std::string& reason) const {
  std::string before;
  int same = 0;
  for (int look = 0; look < looks_max && !stop_.stop_requested(); ++look) {
    if (look > 0) std::this_thread::sleep_for(look_again);
    bool undecided = false;
    reason.clear();
    for (const JobTaskState& state : states(id).value_or(std::vector<JobTaskState>())) {
      undecided = undecided || (state.state == JobState::waiting && state.reason == "None");
      const bool may_be_hopeless = state.state == JobState::waiting || state.state == JobState::cancelled;
      if (may_be_hopeless && job_obstacle(state.reason)) reason = state.reason;
    }
    if (reason.empty() && !undecided) break;
    same = reason == before ? same + 1 : 1;
    before = reason;
    if (!reason.empty() && same >= (reason == first_reason ? looks_at_first_reason : looks_at_reason))
      return job_obstacle(reason);
  }
  reason.clear();
  return std::nullopt;
}

void JobQueue::cancel(const std::string& id) const {
  refuse_no_id(id);
  const auto result = ask(scheduler_.cancel(id), {}, answer_max_, stop_);
  if (result.status == 0) return;
  const auto left = states(id);
  const auto lives = [](const JobTaskState& state) {
    return state.state == JobState::waiting || state.state == JobState::running;
  };
  if (left && std::ranges::none_of(*left, lives)) return;
  throw Error(FailureKind::command, fmt::format("job {} could not be cancelled: {}", id, last_words(result)),
              "cancel it with the scheduler's own program");
}

std::vector<std::string> cancel_all(const JobScheduler& scheduler, const std::vector<std::string>& ids) {
  const JobQueue queue(scheduler, {});
  std::vector<std::string> failures;
  const auto end = std::chrono::steady_clock::now() + cancelling_max;
  for (const std::string& id : ids) {
    if (std::chrono::steady_clock::now() > end) {
      failures.push_back(fmt::format("job {} may go on: the scheduler does not answer in time", printable(id)));
      continue;
    }
    try {
      queue.cancel(id);
    } catch (const Error& error) {  // the others are to go all the same
      failures.push_back(fmt::format("job {} may go on: {}", printable(id), error.failure().message));
    }
  }
  return failures;
}

}  // namespace sabath
