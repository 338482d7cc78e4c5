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
constexpr auto answer_deadline = std::chrono::seconds(60);
constexpr std::size_t answer_bytes_max = 4 << 20;
constexpr auto look_again = milliseconds(200);
// A scheduler that thinks longer says "None", and the job is left in peace. Slurm's first reason may be another one.
constexpr int looks_max = 25, looks_at_reason = 3, looks_at_first_reason = 12;
constexpr std::string_view first_reason = "PartitionConfig";

CommandResult ask(std::vector<std::string> argv, const std::filesystem::path& directory, const std::stop_token& stop) {
  // Flux then writes its ids in ASCII.
  return run_command({.argv = std::move(argv),
                      .environment = {{"FLUX_F58_FORCE_ASCII", "1"}},
                      .directory = directory,
                      .deadline = answer_deadline,
                      .output_max = answer_bytes_max},
                     stop);
}

std::string last_words(const CommandResult& result) {
  const std::string_view said = trim(result.err.empty() ? result.out : result.err);
  return printable(said.substr(said.size() > 1000 ? said.size() - 1000 : 0), 1000);
}

}  // namespace

std::string JobQueue::submit(const JobSubmission& submission) const {
  const auto result =
      ask(scheduler_.submit(submission.script, submission.after, submission.task), submission.directory, stop_);
  if (result.status != 0) {
    throw Error(FailureKind::usage, fmt::format("{} refuses the job: {}", scheduler_.program, last_words(result)),
                "nothing was submitted; change what it names");
  }
  std::string id = scheduler_.id_in(result.out);
  if (!is_job_id(id)) {
    throw Error(FailureKind::command,
                fmt::format("{} names no job: {}", scheduler_.program, printable(trim(result.out), 200)),
                "look for the job in its queue");
  }
  return id;
}

std::optional<std::vector<JobTaskState>> JobQueue::states(const std::string& id) const {
  const auto result = ask(scheduler_.ask(id), {}, stop_);
  if (result.status == 0) return scheduler_.states_in(result.out);
  if (result.err.find(scheduler_.unknown) != std::string::npos) return std::vector<JobTaskState>();
  return std::nullopt;
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
  const auto result = ask(scheduler_.cancel(id), {}, stop_);
  if (result.status == 0) return;
  const auto left = states(id);
  const auto lives = [](const JobTaskState& state) {
    return state.state == JobState::waiting || state.state == JobState::running;
  };
  if (left && std::ranges::none_of(*left, lives)) return;
  throw Error(FailureKind::command, fmt::format("job {} could not be cancelled: {}", id, last_words(result)));
}

}  // namespace sabath
