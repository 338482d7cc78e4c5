// Follows a submitted job by what its script writes, and asks the scheduler where that says nothing. What it sees it
// notes beside job.json. One thread. Throws Error{interrupted} at a stop request, and what a queue throws.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "jobs/job_directory.h"
#include "jobs/job_outcome.h"
#include "jobs/job_queue.h"
#include "sabath/event.h"
#include "sabath/verbs/job.h"

namespace sabath {

class JobWatch {
 public:
  JobWatch(std::filesystem::path directory, SubmittedJob job, const JobQueue& queue);

  [[nodiscard]] std::vector<JobTaskRecord> look();          // asks the scheduler once
  [[nodiscard]] std::vector<JobTaskRecord> look_at_ends();  // asks it not
  [[nodiscard]] bool is_silent() const;                     // the scheduler did not answer the last look
  [[nodiscard]] std::string summary() const;                // after a look: "running"; "3 ended, 2 waiting (Priority)"
  // Until each task has ended: what the script wrote counts, the scheduler's word only where it wrote nothing.
  [[nodiscard]] std::vector<JobTaskRecord> wait(EventSink& events, const std::stop_token& stop);
  // After the last look: the job that fetches before; nullopt: there is none.
  [[nodiscard]] std::optional<JobTaskRecord> fetch() const;
  // What was done to the tasks that have not ended, as their state when the scheduler says that they live no more.
  void note(JobState state, const std::string& reason, int exit);
  [[nodiscard]] bool has_ended() const;  // after the last look: nothing of it lives, nor the job that fetches before
  // Of the whole job; nullopt: a task has not ended.
  [[nodiscard]] static std::optional<int> code_of(const std::vector<JobTaskRecord>& tasks);

 private:
  void read_ends();
  [[nodiscard]] bool ask_scheduler();  // false: it does not answer
  [[nodiscard]] bool ask_while_waiting();
  [[noreturn]] void leave_job() const;
  void take(const std::vector<JobTaskState>& states, std::size_t id);
  [[nodiscard]] bool lives(const JobTaskRecord& task) const;
  void take_one(JobTaskRecord& task, const JobTaskState& state);
  void note_silence();
  void settle();  // tasks that live no more, by what was written, seen before, or said by the scheduler
  void settle(JobTaskRecord& task);
  void tell(EventSink& events);

  std::filesystem::path directory_;
  SubmittedJob job_;
  const JobQueue& queue_;
  std::vector<JobTaskRecord> tasks_;
  std::vector<unsigned> again_;  // for each task: at how many starts it had ended, and was in the queue again; 0: never
  JobOutcome seen_;
  std::unique_ptr<JobWatch> fetch_;  // of the job that fetches before
  std::string said_;                 // the last message
};

}  // namespace sabath
