// A batch job as it is to be: what its script is made of. Plain values; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

inline constexpr std::size_t job_tasks_max = 1000;

// What the job asks its scheduler for. An absent value is left to the scheduler.
struct JobResources {
  std::uint64_t nodes = 1, ranks = 1;         // ranks: on all nodes together
  std::optional<std::uint64_t> cores;         // of each rank
  std::optional<std::uint64_t> gpus;          // of each node
  std::optional<std::uint64_t> memory_bytes;  // of each node
  std::optional<std::int64_t> seconds;        // walltime
  std::string partition, account;             // empty: the scheduler's default
  [[nodiscard]] std::uint64_t ranks_per_node() const { return nodes == 0 ? ranks : (ranks + nodes - 1) / nodes; }
};

struct JobTask {                      // of an array
  std::string name;                   // of its run's directory
  std::vector<std::string> settings;  // arguments of `sabath run`
};

struct JobPlan {
  std::string name;                 // for the queue's list
  std::filesystem::path directory;  // of the job, absolute: the script works there
  JobResources resources;
  std::vector<std::pair<std::string, std::string>> variables;  // of the environment: settings of SABATH, no secret
  std::vector<std::string> fetch, stage, run, arguments, report, cap;  // commands; empty: there is no such step
  std::vector<JobTask> tasks;                                          // empty: one run
  std::optional<std::uint64_t> at_once;                                // tasks that may run at the same time
};

}  // namespace sabath
