#include "jobs/job_bounds.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

void refuse_outside(std::string_view what, std::optional<std::uint64_t> number, std::uint64_t max) {
  if (!number || (*number > 0 && *number <= max)) return;
  throw Error(FailureKind::usage, fmt::format("a job cannot ask for {} {}: 1 to {}", *number, what, max),
              "an option, the recipe's metadata or the site profile says so: change it");
}

}  // namespace

void refuse_out_of_bounds(const JobPlan& plan) {
  const JobResources& of = plan.resources;
  refuse_outside("nodes", of.nodes, job_nodes_max);
  refuse_outside("ranks", of.ranks, job_ranks_max);
  refuse_outside("cores of each rank", of.cores, job_cores_max);
  refuse_outside("cores of each node", of.cores.value_or(1) * of.ranks_per_node(),
                 of.cores ? job_cores_max : job_ranks_max);
  refuse_outside("GPUs of each node", of.gpus, job_gpus_max);
  refuse_outside("bytes of memory of each node", of.memory_bytes, job_memory_max);
  refuse_outside("tasks at once", plan.at_once, job_tasks_max);
  if (of.seconds && (*of.seconds <= 0 || *of.seconds > job_seconds_max))
    throw Error(FailureKind::usage, fmt::format("a job cannot take {} seconds", *of.seconds),
                fmt::format("give a time of up to {} days", job_seconds_max / 86400));
}

std::string job_wishes(const std::map<std::string, std::string>& metadata) {
  constexpr std::array<std::string_view, 6> keys{"job_nodes", "job_ranks",  "job_cores",
                                                 "job_gpus",  "job_memory", "job_time"};
  std::string text;
  for (const std::string_view key : keys) {
    const auto found = metadata.find(std::string(key));
    if (found == metadata.end() || found->second.empty()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, printable(found->second, 40));
  }
  return text;
}

}  // namespace sabath
