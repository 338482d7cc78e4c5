// The directory of a job: job.json, script.sh, and what the script writes there. docs/jobs.md. Any process reads it at
// any time. One thread. Throws Error{storage}, Error{space}, Error{invalid} for a file that is not as it must be,
// Error{access} for what another user could have written: ids in it would be given to the scheduler.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/held_directory.h"

namespace sabath {

// What was submitted: job.json.
struct SubmittedJob {
  std::string name, model, scheduler;
  std::vector<std::string> ids;    // one; where the scheduler has no arrays, one for each task
  std::string fetch_id;            // of the job that fetches first; empty: there is none
  std::vector<std::string> tasks;  // names of the runs of an array; empty: one run
  std::int64_t submitted = 0;      // seconds since 1970
};

// Why another user could have written what stands there, or may exchange it: it, or the target of the symlink that it
// is, is not root's or this user's, or others may write it, or a directory above it is another user's or anyone may
// write there; nullopt: none could. A group may write above it, as in the directories of projects, and `trusted` owners
// may own what is above it.
[[nodiscard]] std::optional<std::string> why_job_of_others(const std::filesystem::path& place,
                                                           std::span<const std::uint32_t> trusted = {});
void refuse_job_of_others(const std::filesystem::path& place,
                          std::span<const std::uint32_t> trusted = {});  // Error{access}
// Makes the directory of a job, in which only this user writes; one that is there must be his own, and empty.
HeldDirectory make_job_directory(const std::filesystem::path& directory, std::span<const std::uint32_t> trusted = {});

void write_submitted_job(const std::filesystem::path& directory, const SubmittedJob& job);
[[nodiscard]] std::optional<SubmittedJob> try_read_submitted_job(const std::filesystem::path& directory,
                                                                 std::span<const std::uint32_t> trusted = {});

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

// Seconds that the longest finished run of this model and dataset took, of this user's runs, sweeps and jobs in
// `place`.
[[nodiscard]] std::optional<double> longest_run_in(const std::filesystem::path& place, const std::string& model,
                                                   const std::string& dataset);
// A walltime for that: with room to spare, in whole minutes. nullopt: nothing is known.
[[nodiscard]] std::optional<std::int64_t> job_walltime(std::optional<double> run_seconds,
                                                       std::optional<double> fetch_seconds);

struct FoundJob {
  std::filesystem::path directory;
  SubmittedJob job;
};
// The jobs in `place` whose directories' names begin so, the newest first. What others own is passed over, and what is
// this user's but cannot be read goes to `unread`.
[[nodiscard]] std::vector<FoundJob> submitted_jobs_in(const std::filesystem::path& place, std::string_view begin,
                                                      std::vector<std::filesystem::path>& unread,
                                                      std::span<const std::uint32_t> trusted = {});
// The newest job of the model in `place`; nullopt: there is none.
[[nodiscard]] std::optional<std::filesystem::path> newest_job_in(const std::filesystem::path& place,
                                                                 const std::string& model,
                                                                 std::vector<std::filesystem::path>& unread,
                                                                 std::span<const std::uint32_t> trusted = {});

}  // namespace sabath
