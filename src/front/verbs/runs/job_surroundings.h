// What of the shell in which a job is made does not come into the job. Any thread.
#pragma once

#include "jobs/job_scheduler.h"
#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

// Modules that are loaded, and a virtual environment: most schedulers take PATH along, and nothing else of them.
void warn_of_surroundings(const Environment& environment, const JobScheduler& scheduler, EventSink& events);

}  // namespace sabath
