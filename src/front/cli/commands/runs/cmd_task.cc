#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/counted.h"
#include "cli/described.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/task.h"

namespace sabath::cli {
namespace {
namespace cmd_task {

void tell(Context& context, const TaskRecord& record) {
  if (record.converted) {
    for (const ConvertedModel& model : record.converted->models) {
      context.say(fmt::format("{}: {}", model.name, model.verdict));
      for (const std::string& finding : model.findings) context.warn("  " + printable(finding, 4096));
    }
  }
  if (record.inferred)
    context.say(fmt::format("{}: {}", printable(record.inferred->result), counted(record.inferred->samples, "sample")));
  for (const std::string& name : record.found) context.out.print(name + "\n");
  for (const auto& file : record.written) context.out.print(printable(file.native(), 4096) + "\n");
  if (record.written.empty() && record.converted && record.converted->exit == 0)
    context.out.print(record.converted->name + "\n");
}

void tell_plan(Context& context, const TaskRecord& record) {
  context.say(fmt::format("{}: sabath {} of {}", record.task, record.verb,
                          printable(fmt::format("{}", fmt::join(record.models, ", ")), 4096)));
  tell(context, record);
}

int run(Context& context, TaskRequest& request) {
  if (can_ask(context))
    request.ask = [&](const std::string& about) { return ask_trust(context, request.file.native(), about); };
  return perform<run_task>(context, request, request.dry_run ? tell_plan : tell);
}

Action declare_task(OptionSet& set) {
  const auto request = std::make_shared<TaskRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_task
}  // namespace

constexpr Verb task_verb{
    .name = "task",
    .summary = "do what a task file of HPCFAIR says: conversion, inference, search, load",
    .examples =
        "sabath task conversion.yaml\n"
        "sabath task inference.yaml -n     what would be done",
    .details =
        "A task file has the groups general_args (task, backend), device_args, model_args or task_args, and out_args. "
        "A conversion is `sabath convert`, whose models are copied to export_file; an inference is `sabath infer`. An "
        "unknown key is named with its line. docs/convert.md lists the keys.",
    .declare = cmd_task::declare_task,
};

}  // namespace sabath::cli
