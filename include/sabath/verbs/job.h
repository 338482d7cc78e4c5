// A batch job of a model: its script made of recipe and site profile, submitted, watched. docs/jobs.md.
//
// One process. Throws Error{usage}, Error{not_found}, Error{invalid} for what was asked; Error{access} for code that is
// not trusted, or a template, a profile or a job's directory that another account can change; Error{command} for a
// scheduler that cannot be started, or that cancels no job; Error{storage}, Error{space}; Error{interrupted},
// Error{terminated} at a stop request while it waits: the job goes on. A job that fails, or that can never start, is no
// Error: see `exit`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "sabath/verbs/run.h"

namespace sabath {

class Session;

struct JobRequest {
  // What runs: model, dataset, settings, ... as of `run`. Of a job that was submitted, `run.model` is its directory, or
  // the model, whose newest job in the working directory is meant; with `status` alone it may be empty: all of the
  // working directory. `run.directory` is the job's; empty: made here.
  RunRequest run;
  bool submit = false, wait = false, status = false, cancel = false;  // none: the script is made, and nothing else
  bool dry_run = false;                                               // the same, and nothing besides
  std::string scheduler;  // "slurm", "pbs", "flux", "lsf"; empty: the profile's, else the one in PATH
  std::string fetch;      // where: "job", "transfer", "login", "none"; empty: as the profile says
  std::string stage;      // a directory on each node's disk; empty: the profile's; "none": no staging
  std::string cap;        // how much may stay there after the job: "500GB"; empty: the profile's, else all
  std::string time;       // "2h30m", "1-02:03:04"; empty: the recipe's, the profile's, else by plan and earlier records
  std::string partition, account, transfer_partition;      // empty: the profile's, else the scheduler's
  std::string after;                                       // a job that must end well before
  std::optional<std::uint64_t> cores, gpus, memory_bytes;  // of each rank; of each node
  std::optional<std::uint64_t> at_once;                    // tasks of an array that may run at the same time
  // A login node on which all of it is done, by ssh: "me@login1". `run.model` and what it names, and `run.lock`, are of
  // this side, and sent; all other paths are of that side, and so is the decision whether code may run. Where `run.ask`
  // is set, a user is at a terminal, and ssh may ask, too. Throws what ssh cannot do as Error{access},
  // Error{unavailable}, Error{network}, and a host without this SABATH as Error{command}.
  std::string host;
};

struct JobScriptText {
  std::filesystem::path file;  // where it is, or would be
  std::string text;
};

struct JobTaskRecord {
  std::uint64_t task = 0;
  std::string name;    // of its run; empty: there is one run only
  std::string state;   // "waiting", "running", "ended", "cancelled", "timed out", "failed", "its node failed", "gone"
  std::string reason;  // the scheduler's, why it waits or has ended; empty: it says none
  std::vector<std::pair<std::string, std::uint64_t>> steps;  // how they ended
  std::optional<int> exit;                                   // SABATH's exit code; absent: it has not ended
  unsigned starts = 0;                                       // more than one: it was queued again
  std::string failure;  // what failed in it, as far as is known: "its program ended with 3"
};

// One of the jobs of a directory.
struct ListedJob {
  std::filesystem::path directory;
  std::string model, scheduler;
  std::vector<std::string> ids;
  std::int64_t submitted = 0;  // seconds since 1970
  std::string state;           // "running"; "3 ended, 2 waiting (Priority)"
  std::optional<int> code;     // once it has ended
};

struct JobRecord {
  std::filesystem::path directory;
  std::string scheduler;
  std::vector<std::string> ids;        // of the job; one for each task where the scheduler has no arrays
  std::string fetch_id;                // of the job that fetches before; empty: there is none
  std::vector<JobScriptText> scripts;  // that were made; empty: of an earlier call
  std::vector<JobTaskRecord> tasks;    // of a job that was submitted
  std::optional<JobTaskRecord> fetch;  // of the job that fetches before; absent: there is none, or it was not asked
  std::vector<ListedJob> jobs;         // of the working directory, the newest first: where no model was named
  std::string never;                   // why it can never start: it was taken from the queue; empty: it may
  std::optional<int> code;             // of the whole job, once it has ended
  int exit = 0;
  std::string host;  // on which the directory is; empty: this machine
};

[[nodiscard]] JobRecord work_on_job(Session& session, const JobRequest& request, EventSink& events,
                                    std::stop_token stop = {});
[[nodiscard]] std::string to_json(const JobRecord& record);

}  // namespace sabath
