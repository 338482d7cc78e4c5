// A job made of a request: what its recipe, its site's profile and earlier records say, as scripts. One thread. Throws
// what work_on_job() throws.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "jobs/job_directory.h"
#include "jobs/job_plan.h"
#include "jobs/job_scheduler.h"
#include "sabath/verbs/fetch.h"
#include "sabath/verbs/job.h"

namespace sabath {

inline constexpr const char* job_lock_file = "lock.json";  // in the job's directory

struct MadeJob {
  const JobScheduler* scheduler = nullptr;
  JobPlan plan;
  std::string script;
  std::string fetch_script;       // of the job that fetches before; empty: there is none
  std::string lock;               // the record that is its lock; empty: there is none
  FetchRequest fetch;             // what is fetched
  bool fetch_here = false;        // by this process, before the job is submitted
  SubmittedJob record;            // without ids
  std::filesystem::path program;  // this SABATH's
};

[[nodiscard]] MadeJob make_job(Session& session, const JobRequest& request, EventSink& events,
                               const std::stop_token& stop);

}  // namespace sabath
