#include "jobs/job_failure.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "jobs/job_scheduler.h"
#include "record/run_record.h"
#include "sabath/error.h"

namespace sabath {
namespace {

std::optional<RunRecord> own_record_of(const std::filesystem::path& run) {
  try {
    const auto file = try_lstat(run / "run.json");
    if (!file || !S_ISREG(file->st_mode) || (file->st_uid != ::geteuid() && file->st_uid != 0)) return std::nullopt;
    return try_read_run_record(run);
  } catch (const Error&) {  // the steps say that it failed
    return std::nullopt;
  }
}

std::string failed_run(const std::filesystem::path& run) {
  const auto record = own_record_of(run);
  if (record && record->signal) return fmt::format("signal {} ended its program", *record->signal);
  if (record && record->exit && *record->exit != 0) return fmt::format("its program ended with {}", *record->exit);
  return "its run failed";
}

}  // namespace

std::string what_failed(const JobTaskRecord& task, const std::filesystem::path& run) {
  const int code = task.exit.value_or(0);
  if (code == 0 || code == exit_code(FailureKind::terminated)) return "";
  for (const auto& [step, status] : task.steps) {
    if (status == 0) continue;
    if (step == "run") return failed_run(run);
    return fmt::format("its {} failed with {}", step, status);
  }
  if (task.state == job_state_text(JobState::gone))
    return "the scheduler does not know it any more, and its script wrote no end";
  return task.starts > 0 && task.state == job_state_text(JobState::failed) ? "its script wrote no end" : "";
}

}  // namespace sabath
