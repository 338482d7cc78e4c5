#include "verbs/runs/job_surroundings.h"

#include <fmt/format.h>

#include "sabath/path.h"

namespace sabath {

void warn_of_surroundings(const Environment& environment, const JobScheduler& scheduler, EventSink& events) {
  const bool path_goes = scheduler.name != "pbs";
  if (const auto active = environment.get("VIRTUAL_ENV"); active && !active->empty()) {
    events.on(event::Warning{
        fmt::format("the virtual environment {} is active here: {}; SABATH_PYTHON names the Python of the job",
                    printable(*active, 300),
                    path_goes ? "PATH goes along, so the job finds its programs" : "it does not go along")});
  }
  if (const auto loaded = environment.get("LOADEDMODULES"); loaded && path_goes) {
    events.on(event::Warning{
        fmt::format("modules are loaded here: {}; of what they set only PATH goes into the job. Unload them, and name "
                    "what the job needs in its recipe, or in a lock",
                    printable(*loaded, 300))});
  }
}

}  // namespace sabath
