// A scheduler's programs, started with bounds in time and output. What they say is made printable, and what they are
// given as a job's id is one. One thread. Throws Error{command} for a program that does not start, Error{usage} for a
// job that the scheduler refuses, Error{invalid} for what is no id, Error{interrupted}.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "jobs/job_scheduler.h"

namespace sabath {

struct JobSubmission {
  std::filesystem::path directory;    // from which it is submitted
  std::string script;                 // its file there
  std::string after;                  // a job that must end well before; empty: none
  std::optional<std::uint64_t> task;  // where the scheduler has no arrays
};

class JobQueue {
 public:
  // `answer_max`: so long it waits for an answer about a job.
  JobQueue(const JobScheduler& scheduler, std::stop_token stop,
           std::chrono::milliseconds answer_max = std::chrono::seconds(20))
      : scheduler_(scheduler), stop_(std::move(stop)), answer_max_(answer_max) {}

  [[nodiscard]] const JobScheduler& scheduler() const { return scheduler_; }
  // The job's id. No stop request ends it in the middle: the job might be in the queue, and its id be lost.
  [[nodiscard]] std::string submit(const JobSubmission& submission) const;
  // Of the job, or of each task of its array. None: the scheduler does not know it any more; nullopt: it does not
  // answer, or says what is no answer.
  [[nodiscard]] std::optional<std::vector<JobTaskState>> states(const std::string& id) const;
  // What keeps it from ever starting, as far as the scheduler has said so within some seconds.
  [[nodiscard]] std::optional<JobObstacle> obstacle(const std::string& id, std::string& reason) const;
  void cancel(const std::string& id) const;  // one that has ended stays as it is

 private:
  void refuse_no_id(const std::string& id) const;

  const JobScheduler& scheduler_;
  std::stop_token stop_;
  std::chrono::milliseconds answer_max_;
};

// Cancels each of them, goes on after one that fails, and heeds no stop request. What failed: a text for each.
[[nodiscard]] std::vector<std::string> cancel_all(const JobScheduler& scheduler, const std::vector<std::string>& ids);

}  // namespace sabath
