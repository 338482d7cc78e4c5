// Finds the templates of jobs: jobs/SCHEDULER/job.sh and jobs/steps.sh below the user's configuration, the site's, or
// what is installed; the first that is there counts, each file by itself. Any thread. Throws Error{not_found}, and
// Error{access} for one that another account can change: a job would run what he writes.
#pragma once

#include <filesystem>
#include <vector>

#include "jobs/job_script.h"
#include "sabath/environment.h"

namespace sabath {

// `program`: this SABATH's, beside which the data are.
[[nodiscard]] JobTemplate find_job_template(const JobScheduler& scheduler, const Environment& environment,
                                            const std::filesystem::path& program);

// Throws Error{access} if others can change the file; `what` names it: "the site profile".
void refuse_others_file(const std::filesystem::path& file, std::string_view what, const std::filesystem::path& program);

// The scheduler of this name; without a name the one whose program is in PATH. Throws Error{usage} if there is none.
[[nodiscard]] const JobScheduler& choose_job_scheduler(const std::string& name, const Environment& environment);

}  // namespace sabath
