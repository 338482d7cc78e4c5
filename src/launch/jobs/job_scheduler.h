// What differs between batch systems. A table of plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/error.h"

namespace sabath {

// How a job, or a task of an array, is seen from outside.
enum class JobState : std::uint8_t { waiting, running, ended, cancelled, timed_out, node_failed, failed, gone };
[[nodiscard]] std::string_view job_state_text(JobState state);

struct JobTaskState {
  std::optional<std::uint64_t> task;  // absent: of the whole job
  JobState state = JobState::gone;
  std::string word, reason;  // as the scheduler calls it
};

struct JobScheduler {
  std::string_view name;       // "slurm"
  std::string_view directive;  // how its lines in a script begin
  std::string_view program;    // that submits: where it is in PATH, this is the scheduler
  bool arrays = true;          // false: each task is a job of its own
  std::vector<std::string> (*submit)(const std::string& script, const std::string& after,
                                     std::optional<std::uint64_t> task);
  std::string (*id_in)(std::string_view out);  // empty: it says none
  std::vector<std::string> (*ask)(const std::string& id);
  std::vector<JobTaskState> (*states_in)(std::string_view out);
  std::vector<std::string> (*cancel)(const std::string& id);
  std::string_view unknown;              // a part of what it says of a job that it does not know
  bool (*is_id)(std::string_view text);  // may be an argument of its programs, and names one job
};

[[nodiscard]] std::span<const JobScheduler> job_schedulers();
[[nodiscard]] const JobScheduler* find_job_scheduler(std::string_view name);

// Why a job with this reason never starts; nullopt: it may.
struct JobObstacle {
  FailureKind kind;
  std::string_view what;
};
[[nodiscard]] std::optional<JobObstacle> job_obstacle(std::string_view reason);

// Letters, digits and . _ - [ ], and a cluster behind a semicolon: what some scheduler calls a job. Never what stands
// for all jobs of a user ("0" of LSF, "all" of Torque).
[[nodiscard]] bool is_job_id(std::string_view text);

}  // namespace sabath
