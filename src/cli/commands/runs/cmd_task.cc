#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/task.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_task {

struct Options {
  std::string file, trust;
  bool dry_run = false;
};

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

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  TaskRequest request;
  request.file = options.file;
  request.dry_run = options.dry_run;
  request.environment = context.environment;
  request.trust = options.trust;
  if (can_ask(context)) request.ask = [&](const std::string& about) { return ask_trust(context, options.file, about); };
  TaskRecord record;
  {
    const auto progress = context.make_progress();
    record = run_task(session, request, *progress, context.stop);
  }
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  if (options.dry_run)
    context.say(fmt::format("{}: sabath {} of {}", record.task, record.verb,
                            printable(fmt::format("{}", fmt::join(record.models, ", ")), 4096)));
  tell(context, record);
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("FILE", options->file, "a task in YAML: general_args, device_args, model_args, out_args");
  set.choice("--trust", {"once", "commit"}, options->trust,
             "open a pickle, or run code that others could write (docs/trust.md)");
  set.flag("-n,--dry-run", options->dry_run, "say what would be done, and do nothing");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_task
}  // namespace

constexpr Verb task_verb{
    "task",
    "do what a task file of HPCFAIR says: conversion, inference, search, load",
    "sabath task conversion.yaml\n"
    "sabath task inference.yaml -n     what would be done",
    "A task file has the groups general_args (task, backend), device_args, model_args or task_args, and out_args. A "
    "conversion is `sabath convert`, whose models are copied to export_file; an inference is `sabath infer`. An "
    "unknown "
    "key is told with its line. docs/convert.md lists the keys.",
    false,
    cmd_task::declare,
};

}  // namespace sabath::cli
