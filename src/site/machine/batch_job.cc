#include "machine/batch_job.h"

#include <array>
#include <utility>

namespace sabath {

std::string batch_job(const Environment& environment) {
  constexpr std::array<std::pair<const char*, const char*>, 4> schedulers{
      {{"slurm", "SLURM_JOB_ID"}, {"pbs", "PBS_JOBID"}, {"lsf", "LSB_JOBID"}, {"flux", "FLUX_JOB_ID"}}};
  for (const auto& [scheduler, variable] : schedulers) {
    if (const auto id = environment.get(variable)) return std::string(scheduler) + " " + id->substr(0, 64);
  }
  return "";
}

}  // namespace sabath
