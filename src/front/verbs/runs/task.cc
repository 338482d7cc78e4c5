#include "sabath/verbs/task.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/asked_file.h"
#include "base/file.h"
#include "base/wording.h"
#include "run/commands.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/search.h"
#include "task/plan.h"
#include "verbs/runs/convert_fields.h"
#include "verbs/runs/infer_fields.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t task_bytes_max = 1 << 20;

// The converted models, from the asset to where the task wants them.
void export_models(const std::vector<fs::path>& files, TaskRecord& record) {
  const ConvertRecord& converted = *record.converted;
  if (converted.exit != 0 || converted.path.empty()) return;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path from = converted.path / converted.models[i].file;
    if (converted.models[i].file.find('/') != std::string::npos) {
      throw Error(FailureKind::usage,
                  fmt::format("{} has weights in files of their own", printable(converted.models[i].file)),
                  fmt::format("take them from {}", converted.path.native()));
    }
    const auto copied = fs::path(files[i]).concat(".unfinished");
    std::error_code error;
    if (!fs::copy_file(from, copied, fs::copy_options::overwrite_existing, error)) {
      throw Error(FailureKind::storage,
                  fmt::format("cannot write {}: {}", printable(files[i].native(), 4096), error.message()));
    }
    fs::permissions(copied, fs::perms::owner_write, fs::perm_options::add, error);
    rename_path(copied, files[i]);
    record.written.push_back(files[i]);
  }
}

class Task {
 public:
  Task(Session& session, const TaskRequest& request, EventSink& events, const std::stop_token& stop)
      : session_(session), request_(request), events_(events), stop_(stop) {}

  TaskRecord run() {
    refuse_directory(request_.file);
    const auto text = try_read_text(request_.file, task_bytes_max);
    if (!text)
      throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(request_.file.native(), 4096)));
    plan_ = plan_task(*text, request_.file.native());
    record_.task = name(plan_.kind);
    switch (plan_.kind) {
      case TaskPlan::Kind::conversion:
        convert_models();
        break;
      case TaskPlan::Kind::inference:
        run_models();
        break;
      case TaskPlan::Kind::search:
        search_assets();
        break;
      case TaskPlan::Kind::load:
        load_assets();
        break;
    }
    return std::move(record_);
  }

 private:
  void convert_models() {
    record_.verb = "convert";
    for (const ConvertModel& model : plan_.convert.models) record_.models.push_back(model.model);
    plan_.convert.dry_run = request_.dry_run;
    plan_.convert.environment = request_.environment;
    plan_.convert.trust = request_.trust;
    plan_.convert.remedy = fmt::format("{} {}", verb_text("task"), shell_line({request_.file.native()}));
    plan_.convert.ask = request_.ask;
    record_.converted = convert(session_, plan_.convert, events_, stop_);
    record_.exit = record_.converted->exit;
    if (!request_.dry_run) export_models(plan_.export_files, record_);
  }

  void run_models() {
    record_.verb = "infer";
    record_.models = plan_.infer.models;
    if (request_.dry_run) return;
    plan_.infer.environment = request_.environment;
    record_.inferred = infer(session_, plan_.infer, events_, stop_);
    record_.exit = record_.inferred->exit;
    record_.written.push_back(record_.inferred->output);
  }

  void search_assets() {
    record_.verb = "search";
    record_.models = plan_.words;
    if (request_.dry_run) return;
    SearchRequest wanted;
    wanted.pattern = plan_.words.front();
    wanted.environment = request_.environment;
    const auto found = search(session_, wanted, events_, stop_);
    for (const auto& asset : found.assets) record_.found.push_back(asset.name);
    record_.exit = found.exit;
  }

  void load_assets() {
    record_.verb = "fetch";
    record_.models = plan_.words;
    if (request_.dry_run) return;
    FetchRequest wanted;
    wanted.names = plan_.words;
    const FetchRecord fetched = session_.fetch(wanted, events_, stop_);
    for (const AssetRecord& asset : fetched.assets) {
      if (asset.failures.empty()) record_.found.push_back(asset.name);
    }
    record_.exit = fetched.exit;
  }

  Session& session_;
  const TaskRequest& request_;
  EventSink& events_;
  const std::stop_token& stop_;
  TaskPlan plan_;
  TaskRecord record_;
};

}  // namespace

TaskRecord run_task(Session& session, const TaskRequest& request, EventSink& events, std::stop_token stop) {
  return Task(session, request, events, stop).run();
}

template <>
struct Described<TaskRequest> {
  using Of = TaskRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "a task in YAML: general_args, device_args, model_args, out_args", .required = true,
                   .argument = "FILE"),
      SABATH_FIELD(trust, .help = "open a pickle, or run code that others could write (docs/trust.md)",
                   .words = "once|commit|origin", .value = "once|commit"),
      SABATH_FIELD(dry_run, .help = "say what would be done, and do nothing", .letter = 'n'),
      SABATH_FIELD(environment, .help = "the variables that the task's verb starts from; absent: those of this process",
                   .hidden = true),
  };
};

template <>
struct Described<TaskRecord> {
  using Of = TaskRecord;
  static WholeRecord<ConvertRecord> conversion_of(const TaskRecord& record) {
    return {record.converted ? &*record.converted : nullptr};
  }
  static WholeRecord<InferRecord> inference_of(const TaskRecord& record) {
    return {record.inferred ? &*record.inferred : nullptr};
  }
  static constexpr Field table[] = {
      SABATH_FIELD(task, .help = "what the file asks for: conversion, inference, search or load"),
      SABATH_FIELD(verb, .help = "which verb does it"),
      SABATH_FIELD(models, .help = "that it works on, or the words of a search"),
      SABATH_VALUE("converted", conversion_of, .help = "the record of the conversion"),
      SABATH_VALUE("inferred", inference_of, .help = "the record of the inference"),
      SABATH_FIELD(found, .help = "assets that a search found, or that were loaded"),
      SABATH_FIELD(written, .help = "files"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const TaskRecord& record) { return record_text(record); }

extern constexpr LibraryVerb task_call = described<run_task>("task");

}  // namespace sabath
