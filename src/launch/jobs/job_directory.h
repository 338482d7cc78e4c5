// The directory of a job: job.json, script.sh, and what the script writes there. docs/jobs.md. Any process reads it at
// any time. One thread. Throws Error{storage}, Error{space}, Error{invalid} for a file that is not as it must be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath {

// What was submitted: job.json.
struct SubmittedJob {
  std::string name, model, scheduler;
  std::vector<std::string> ids;    // one; where the scheduler has no arrays, one for each task
  std::string fetch_id;            // of the job that fetches first; empty: there is none
  std::vector<std::string> tasks;  // names of the runs of an array; empty: one run
  std::int64_t submitted = 0;      // seconds since 1970
};

void write_submitted_job(const std::filesystem::path& directory, const SubmittedJob& job);
[[nodiscard]] std::optional<SubmittedJob> try_read_submitted_job(const std::filesystem::path& directory);

// How a task ended, as its script wrote it.
struct JobTaskEnd {
  std::vector<std::pair<std::string, int>> steps;  // since it began, or began again
  std::optional<int> code;                         // absent: it has not come to its end
  unsigned begun = 0;                              // how often: more than once if it was queued again
};
[[nodiscard]] JobTaskEnd parse_job_end(std::string_view text);
[[nodiscard]] JobTaskEnd read_job_end(const std::filesystem::path& directory, std::uint64_t task);

// SABATH's exit code for it: a program that a signal ended is one that failed.
[[nodiscard]] int code_of_job_end(int status);

// Seconds that the longest finished run of this model and dataset took, of the runs, sweeps and jobs in `place`.
[[nodiscard]] std::optional<double> longest_run_in(const std::filesystem::path& place, const std::string& model,
                                                   const std::string& dataset);
// A walltime for that: with room to spare, in whole minutes. nullopt: nothing is known.
[[nodiscard]] std::optional<std::int64_t> job_walltime(std::optional<double> run_seconds,
                                                       std::optional<double> fetch_seconds);

// The newest job of the model in `place`; nullopt: there is none.
[[nodiscard]] std::optional<std::filesystem::path> newest_job_in(const std::filesystem::path& place,
                                                                 const std::string& model);

}  // namespace sabath
