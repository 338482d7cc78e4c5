#include "jobs/job_templates.h"

#include <fmt/format.h>
#include <tuple>

#include <utility>

#include "base/file.h"
#include "base/ownership.h"
#include "base/process.h"
#include "run/guarded_process.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t template_file_max = 256 * 1024;

std::vector<fs::path> template_directories(const Environment& environment, const fs::path& program) {
  std::vector<fs::path> directories;
  if (const auto own = environment.base_directory("XDG_CONFIG_HOME", ".config"); !own.empty())
    directories.push_back(own / "sabath/jobs");
  directories.emplace_back("/etc/sabath/jobs");
  const fs::path bin = program.parent_path();
  directories.push_back((bin / "../share/sabath/jobs").lexically_normal());
  if (bin.parent_path().parent_path().filename() == "build")
    directories.push_back((bin / "../../../etc/jobs").lexically_normal());
  return directories;
}

std::pair<std::string, std::string> read_template(const std::vector<fs::path>& directories, const fs::path& name,
                                                  const fs::path& program) {
  std::string places;
  for (const fs::path& directory : directories) {
    const fs::path file = directory / name;
    places += (places.empty() ? "" : ", ") + directory.string();
    auto text = try_read_text(file, template_file_max);
    if (!text) continue;
    refuse_others_file(file, "the template of jobs", program);
    return {std::move(*text), file.string()};
  }
  throw Error(FailureKind::not_found, fmt::format("the template of jobs {} is not installed", name.string()),
              fmt::format("it is looked for in {}", places));
}

}  // namespace

void refuse_others_file(const fs::path& file, std::string_view what, const fs::path& program) {
  const auto why = why_not_own(file, program);
  if (!why) return;
  throw Error(FailureKind::access, fmt::format("{} {} is not believed: {}", what, printable(file.native(), 1000), *why),
              "a job would run what it says: let only yourself or root write it");
}

JobTemplate find_job_template(const JobScheduler& scheduler, const Environment& environment, const fs::path& program) {
  const auto directories = template_directories(environment, program);
  JobTemplate found;
  std::tie(found.text, found.origin) = read_template(directories, fs::path(scheduler.name) / "job.sh", program);
  std::tie(found.steps_text, found.steps_origin) = read_template(directories, "steps.sh", program);
  return found;
}

const JobScheduler& choose_job_scheduler(const std::string& name, const Environment& environment) {
  std::string names;
  for (const JobScheduler& each : job_schedulers()) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  if (!name.empty()) {
    if (const JobScheduler* found = find_job_scheduler(name)) return *found;
    throw Error(FailureKind::usage, fmt::format("no scheduler is called '{}'", printable(name)),
                fmt::format("known are {}", names));
  }
  const std::string path = environment.get("PATH").value_or("");
  for (const JobScheduler& each : job_schedulers()) {
    if (!find_program(std::string(each.program), path).empty()) return each;
  }
  throw Error(FailureKind::usage, "no scheduler is in PATH: no sbatch, qsub, flux or bsub",
              fmt::format("name one that a script is to be for: {}; or work on a login node", names));
}

}  // namespace sabath
