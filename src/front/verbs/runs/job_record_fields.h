// The record of `job` as tables.
#pragma once

#include "fields/fields.h"
#include "sabath/verbs/job.h"

namespace sabath {

template <>
struct Described<JobScriptText> {
  using Of = JobScriptText;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "where it is, or would be"),
      SABATH_FIELD(text, .help = "all of it"),
  };
};

template <>
struct Described<JobTaskRecord> {
  using Of = JobTaskRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(task, .help = "its number, from 0"),
      SABATH_FIELD(name, .help = "of its run; null: there is one run only", .null_if_empty = true),
      SABATH_FIELD(state, .help = "waiting, running, ended, cancelled, timed out, failed, its node failed, or gone"),
      SABATH_FIELD(reason, .help = "why it waits or has ended, as the scheduler says", .null_if_empty = true),
      SABATH_FIELD(steps, .help = "the exit code of each step that has ended"),
      SABATH_FIELD(exit, .help = "its exit code; null: it has not ended"),
      SABATH_FIELD(starts, .help = "how often it began: more than once if it was queued again"),
      SABATH_FIELD(failure, .help = "what failed in it; null: nothing, or it is not known", .null_if_empty = true),
  };
};

template <>
struct Described<ListedJob> {
  using Of = ListedJob;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "of the job"),
      SABATH_FIELD(model, .help = "what it runs"),
      SABATH_FIELD(scheduler, .help = "slurm, pbs, flux or lsf"),
      SABATH_FIELD(ids, .help = "as the scheduler calls the job; none: it was not submitted"),
      SABATH_FIELD(submitted, .help = "when, in seconds since 1970"),
      SABATH_FIELD(state, .help = "how many of its tasks are in which state"),
      SABATH_FIELD(code, .help = "the job's own exit code; null: it has not ended"),
  };
};

template <>
struct Described<JobRecord> {
  using Of = JobRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "of the job"),
      SABATH_FIELD(scheduler, .help = "slurm, pbs, flux or lsf"),
      SABATH_FIELD(ids, .help = "as the scheduler calls the job; none: it was not submitted"),
      SABATH_FIELD(fetch_id, .help = "the job that fetches before", .null_if_empty = true),
      SABATH_FIELD(scripts, .help = "that were made by this call"),
      SABATH_FIELD(tasks, .help = "how the job does; none: it was not asked"),
      SABATH_FIELD(fetch, .help = "how the job that fetches before does; null: there is none, or it was not asked"),
      SABATH_FIELD(jobs, .help = "of the working directory, 100 at most, where no model was named"),
      SABATH_FIELD(never, .help = "why it can never start; it is not in the queue any more", .null_if_empty = true),
      SABATH_FIELD(code, .help = "the job's own exit code: of its first task that failed; null: it has not ended"),
      SABATH_FIELD(exit, .help = "the exit code"),
      SABATH_FIELD(host, .help = "the login node on which the directory is", .null_if_empty = true,
                   .absent_if_empty = true),
  };
};

}  // namespace sabath
