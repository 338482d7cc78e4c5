// Follows a submitted job by what its script writes, and asks the scheduler where that says nothing. One thread. Throws
// Error{interrupted} at a stop request, and what a queue throws.
#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "jobs/job_directory.h"
#include "jobs/job_queue.h"
#include "sabath/event.h"
#include "sabath/verbs/job.h"

namespace sabath {

class JobWatch {
 public:
  JobWatch(std::filesystem::path directory, SubmittedJob job, const JobQueue& queue);

  [[nodiscard]] std::vector<JobTaskRecord> look();  // asks the scheduler once
  // Until each task has ended: what the script wrote counts, the scheduler's word only where it wrote nothing.
  [[nodiscard]] std::vector<JobTaskRecord> wait(EventSink& events, const std::stop_token& stop);
  // Of the whole job; nullopt: a task has not ended.
  [[nodiscard]] static std::optional<int> code_of(const std::vector<JobTaskRecord>& tasks);

 private:
  void read_ends();
  [[nodiscard]] bool ask_scheduler();  // false: it does not answer
  [[nodiscard]] bool ask_while_waiting();
  [[noreturn]] void leave_job() const;
  void take(const std::vector<JobTaskState>& states, std::size_t id);
  [[nodiscard]] bool lives(const JobTaskRecord& task) const;
  [[nodiscard]] std::optional<int> code_of_fetch() const;
  void note_silence();
  void settle();  // tasks that are gone, by their states
  void tell(EventSink& events);

  std::filesystem::path directory_;
  SubmittedJob job_;
  const JobQueue& queue_;
  std::vector<JobTaskRecord> tasks_;
  std::string said_;  // the last message
};

}  // namespace sabath
