// The script of a job, made of a template. Pure; any thread.
//
// A template is a bash script with places, @name@. In the scheduler's lines (#SBATCH ...) a place is a checked word,
// and a part in braces is left out where its place has no value: {:ngpus=@gpus@}. Elsewhere a place is words that are
// quoted, so it stands by itself, outside of quotes and here-documents, those of earlier lines, too. A line with a
// place that has no value is left out. @steps@, alone on its line, is the template steps.sh. Throws Error{invalid} as
// "file:line: ..." for a template, Error{usage} for a value.
#pragma once

#include <string>
#include <string_view>

#include "jobs/job_plan.h"
#include "jobs/job_scheduler.h"

namespace sabath {

struct JobTemplate {
  std::string text, origin;              // job.sh of the scheduler
  std::string steps_text, steps_origin;  // steps.sh
};

[[nodiscard]] std::string job_script(const JobPlan& plan, const JobScheduler& scheduler, const JobTemplate& form);

}  // namespace sabath
