// `job` on another machine: this side, which calls, and the one that is called. One thread.
#pragma once

#include <stop_token>

#include "sabath/environment.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/job.h"

namespace sabath {

// Throws what work_on_job() throws.
[[nodiscard]] JobRecord work_on_job_of_host(Session& session, const JobRequest& request, EventSink& events,
                                            const std::stop_token& stop);

struct AnsweringSide {
  SessionSettings settings;
  Environment environment;
  int in = 0, out = 1;  // descriptors: the call comes, and its answer goes
};

// Answers one call. The exit code of what was asked. Throws Error{invalid} where no call comes.
[[nodiscard]] int answer_job_call(const AnsweringSide& side, const std::stop_token& stop);

}  // namespace sabath
