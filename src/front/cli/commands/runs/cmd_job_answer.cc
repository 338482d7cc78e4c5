#include <unistd.h>

#include "cli/verbs.h"
#include "verbs/runs/job_host.h"

namespace sabath::cli {
namespace {
namespace cmd_job_answer {

int run(Context& context) {
  return answer_job_call({context.configuration.session, context.environment, STDIN_FILENO, STDOUT_FILENO},
                         context.stop);
}

Action declare(OptionSet&) {
  return [](Context& context) { return run(context); };
}

}  // namespace cmd_job_answer
}  // namespace

constexpr Verb job_answer_verb{
    .name = "job --answer",
    .summary = "what `job --host` starts on the other machine; not for people",
    .examples = "sabath job cosmoflow-nano --submit --host me@login1    there it is started by ssh",
    .details =
        "It reads one call from standard input and answers it on standard output: a job's request, the recipes that it "
        "needs, the lock of a run. All of it is taken as a stranger's: the recipes are what others wrote, and whether "
        "their code may run is decided here, by what this user trusts. docs/jobs.md has the rest.",
    .keeps_state = true,
    .declare = cmd_job_answer::declare,
};

}  // namespace sabath::cli
