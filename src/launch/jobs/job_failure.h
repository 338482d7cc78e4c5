// What failed in a task of a job, by its steps and the record of its run. Any process reads it at any time.
#pragma once

#include <filesystem>
#include <string>

#include "sabath/verbs/job.h"

namespace sabath {

// "its program ended with 3"; empty: nothing failed, or more is not known than its state says. `run`: the directory of
// the task's run. Of a run's record only what this user owns is read.
[[nodiscard]] std::string what_failed(const JobTaskRecord& task, const std::filesystem::path& run);

}  // namespace sabath
