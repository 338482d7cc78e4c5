#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/told/run_display.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/job.h"

namespace sabath::cli {
namespace {
namespace cmd_job {

std::string ends_of(const JobTaskRecord& task) {
  std::string text;
  for (const auto& [step, status] : task.steps) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", step, status);
  return text;
}

void show_tasks(Context& context, const JobRecord& record) {
  Table table({"TASK", "RUN", "STATE", "EXIT", "STEPS", "REASON"});
  for (const JobTaskRecord& task : record.tasks) {
    table.add({fmt::to_string(task.task), printable(task.name), task.state, task.exit ? fmt::to_string(*task.exit) : "",
               printable(ends_of(task)), printable(task.reason)});
  }
  context.out.print(table.text({0, 3}, 0));
  const auto failed = std::ranges::find_if(
      record.tasks, [](const JobTaskRecord& task) { return task.exit.value_or(0) != 0 && task.starts > 0; });
  if (failed != record.tasks.end()) {
    context.say(fmt::format("what its commands said is in {}/output/{}.txt", printable(record.directory.native(), 1000),
                            failed->task));
  }
}

void show(Context& context, const JobRecord& record, bool submitted) {
  if (!record.tasks.empty()) {
    if (!record.host.empty())
      context.say(fmt::format("its directory is {}:{}", record.host, record.directory.string()));
    show_tasks(context, record);
  } else if (submitted) {
    context.out.print((record.host.empty() ? "" : record.host + ":") + record.directory.string() + "\n");
  } else {
    for (const JobScriptText& script : record.scripts) {
      if (record.scripts.size() > 1) context.out.print(fmt::format("# {}\n", script.file.string()));
      context.out.print(script.text);
    }
  }
}

int run(Context& context, JobRequest request) {
  request.run.environment = context.environment;
  if (can_ask(context)) {
    request.run.ask = [&](const std::string& about) { return ask_trust(context, request.run.model, about); };
  }
  Session session(context.configuration.session, context.ranks);
  RunDisplay display(context);
  const JobRecord record = work_on_job(session, request, display, context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    show(context, record, request.submit);
  }
  return record.exit;
}

Action declare_job(OptionSet& set) {
  const auto request = std::make_shared<JobRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_job
}  // namespace

constexpr Verb job_verb{
    .name = "job",
    .summary = "run a model as a batch job: fetch, stage, run, report",
    .examples =
        "sabath job cosmoflow-nano                                 the script, as it would be submitted\n"
        "sabath job cosmoflow-nano --submit --wait                 its exit code is the job's\n"
        "sabath job cosmoflow --submit --nodes 2 --ranks 8 --gpus 4 --time 2h\n"
        "sabath job cosmoflow-nano --submit --set lr=0.1,0.01,0.001 --at-once 2    an array, two at a time\n"
        "sabath job cosmoflow-nano --status                        its newest job here\n"
        "sabath job job_cosmoflow-nano_X --cancel                  one by its directory\n"
        "sabath job cosmoflow-nano --submit --host me@login1       on another machine, by ssh",
    .details =
        "What is not said comes from the site profile, then from the scheduler; a time also from earlier runs here. "
        "The "
        "script is made of templates that a site may replace, and holds no token: each command in it reads your "
        "configuration. What can never start is said at once, and taken from the queue. A job that is queued again "
        "goes "
        "on where it stopped. docs/jobs.md has the rest.",
    .keeps_state = true,
    .declare = cmd_job::declare_job,
};

}  // namespace sabath::cli
