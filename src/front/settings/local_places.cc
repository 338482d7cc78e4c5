#include "settings/local_places.h"

#include <string_view>

#include "base/file.h"

namespace sabath {

std::vector<std::string> local_places(const Environment& environment) {
  std::vector<std::string> places;
  for (const char* name : {"SABATH_LOCAL_DIR", "SLURM_TMPDIR", "PBS_JOBFS", "LOCALSCRATCH", "LOCAL_SCRATCH",
                           "FLUX_JOB_TMPDIR", "BB_JOB_DIR", "_CONDOR_SCRATCH_DIR", "TMPDIR"}) {
    auto value = environment.get(name);
    if (!value) continue;
    const bool ours = name == std::string_view("SABATH_LOCAL_DIR");  // the others hold one directory each
    for (auto comma = ours ? value->npos : value->find(','); comma != value->npos; comma = value->find(',', comma + 2))
      value->insert(comma, ",");
    places.push_back(std::move(*value));
  }
  const std::string user = environment.get("USER").value_or("sabath");
  for (const std::string place : {"/mnt/bb", "/local/scratch", "/local", "/tmp"})
    if (const auto there = try_stat(place); there && S_ISDIR(there->st_mode)) places.push_back(place + "/" + user);
  return places;
}

}  // namespace sabath
