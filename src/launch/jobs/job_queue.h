// A scheduler's programs, started with bounds in time and output. One thread. Throws Error{command} for a program that
// does not start or does not answer, Error{usage} for a job that the scheduler refuses, Error{interrupted}.
#pragma once

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
  JobQueue(const JobScheduler& scheduler, std::stop_token stop) : scheduler_(scheduler), stop_(std::move(stop)) {}

  [[nodiscard]] const JobScheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] std::string submit(const JobSubmission& submission) const;  // the job's id
  // Of the job, or of each task of its array. None: the scheduler does not know it any more; nullopt: it does not
  // answer.
  [[nodiscard]] std::optional<std::vector<JobTaskState>> states(const std::string& id) const;
  // What keeps it from ever starting, as far as the scheduler has said so within some seconds.
  [[nodiscard]] std::optional<JobObstacle> obstacle(const std::string& id, std::string& reason) const;
  void cancel(const std::string& id) const;  // one that has ended stays as it is

 private:
  const JobScheduler& scheduler_;
  std::stop_token stop_;
};

}  // namespace sabath
