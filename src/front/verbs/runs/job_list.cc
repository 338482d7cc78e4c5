#include "verbs/runs/job_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "jobs/job_directory.h"
#include "jobs/job_queue.h"
#include "jobs/job_watch.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool has_good_ids(const SubmittedJob& job, const JobScheduler& scheduler) {
  return std::ranges::all_of(job.ids, scheduler.is_id) && (job.fetch_id.empty() || scheduler.is_id(job.fetch_id));
}

}  // namespace

std::vector<ListedJob> list_jobs_in(const std::filesystem::path& place, EventSink& events,
                                    const std::stop_token& stop) {
  std::vector<std::filesystem::path> unread;
  auto found = submitted_jobs_in(place, "job_", unread);
  for (const auto& damaged : unread) {
    events.on(event::Warning{
        fmt::format("{} is passed over: its job.json cannot be read", printable(damaged.native(), 1000))});
  }
  if (found.size() > listed_jobs_max) {
    events.on(event::Message{fmt::format("the newest {} of {} jobs", listed_jobs_max, found.size())});
    found.resize(listed_jobs_max);
  }
  std::vector<ListedJob> jobs;
  std::string silent;  // the scheduler that does not answer
  for (const FoundJob& each : found) {
    const SubmittedJob& job = each.job;
    ListedJob listed{each.directory, job.model, job.scheduler, job.ids, job.submitted, "never submitted", {}};
    const JobScheduler* const scheduler = find_job_scheduler(job.scheduler);
    if (scheduler == nullptr || !has_good_ids(job, *scheduler)) {
      listed.state = "its job.json is damaged";
    } else if (!job.ids.empty()) {
      const JobQueue queue(*scheduler, stop);
      JobWatch watch(each.directory, job, queue);
      const auto tasks = job.scheduler == silent ? watch.look_at_ends() : watch.look();
      if (watch.is_silent()) silent = job.scheduler;
      listed.state = watch.summary();
      listed.code = JobWatch::code_of(tasks);
    }
    jobs.push_back(std::move(listed));
  }
  return jobs;
}

}  // namespace sabath
