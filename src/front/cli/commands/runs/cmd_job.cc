#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

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

void add_row(Table& table, const std::string& task, const std::string& run, const JobTaskRecord& record) {
  const std::string& why = record.failure.empty() ? record.reason : record.failure;
  table.add({task, printable(run), record.state, record.exit ? fmt::to_string(*record.exit) : "",
             printable(ends_of(record)), printable(why)});
}

// Where the commands of what failed wrote.
void name_outputs(Context& context, const JobRecord& record) {
  constexpr std::size_t named_max = 5;
  std::vector<std::string> files;
  const std::string directory = printable(record.directory.native(), 1000);
  if (record.fetch && record.fetch->exit.value_or(0) != 0 && record.fetch->starts > 0)
    files.push_back(directory + "/fetch/output/0.txt");
  for (const JobTaskRecord& task : record.tasks) {
    if (task.exit.value_or(0) != 0 && task.starts > 0)
      files.push_back(fmt::format("{}/output/{}.txt", directory, task.task));
  }
  for (std::size_t i = 0; i < std::min(files.size(), named_max); ++i)
    context.say(fmt::format("what its commands wrote is in {}", files[i]));
  if (files.size() > named_max) context.say(fmt::format("{} more failed", files.size() - named_max));
}

void show_tasks(Context& context, const JobRecord& record) {
  context.out.print(fmt::format("job {} of {} in {}\n", printable(record.ids.front()), printable(record.scheduler),
                                printable(record.directory.native(), 1000)));
  Table table({"TASK", "RUN", "STATE", "EXIT", "STEPS", "REASON"});
  if (record.fetch) add_row(table, "fetch", record.fetch_id, *record.fetch);
  for (const JobTaskRecord& task : record.tasks)
    add_row(table, fmt::to_string(task.task), task.name.empty() ? "run" : task.name, task);
  context.out.print(table.text({0, 3}, 0));
  context.out.flush();
  name_outputs(context, record);
}

void show_jobs(Context& context, const JobRecord& record) {
  Table table({"JOB", "MODEL", "EXIT", "STATE", "DIRECTORY"});
  for (const ListedJob& job : record.jobs) {
    table.add({job.ids.empty() ? "" : printable(job.ids.front()), printable(job.model),
               job.code ? fmt::to_string(*job.code) : "", printable(job.state, 300),
               printable(job.directory.filename().native(), 300)});
  }
  context.out.print(table.text({2}, 0));
}

void show(Context& context, const JobRecord& record, const JobRequest& request) {
  const bool submitted = request.submit;
  if (request.run.model.empty()) {
    if (record.jobs.empty()) context.say("no job was submitted in this directory");
    if (!record.jobs.empty()) show_jobs(context, record);
  } else if (!record.tasks.empty()) {
    if (!record.host.empty())
      context.say(fmt::format("its directory is {}:{}", record.host, record.directory.string()));
    show_tasks(context, record);
  } else if (submitted) {
    context.out.print((record.host.empty() ? "" : record.host + ":") + record.directory.string() + "\n");
  } else {
    for (const JobScriptText& script : record.scripts) {
      const bool is_first = &script == &record.scripts.front();
      if (record.scripts.size() > 1)
        context.out.print(fmt::format("{}# {}\n", is_first ? "" : "\n", script.file.string()));
      context.out.print(script.text);
    }
    if (record.scripts.size() > 1) {
      context.out.flush();
      context.say("these are two scripts; the second job must start after the first");
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
    show(context, record, request);
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
        "sabath job cosmoflow-nano --wait                          the same, until it has ended\n"
        "sabath job --status                                       all jobs that were submitted here\n"
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
