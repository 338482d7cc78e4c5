#include "hosts/call_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

#include "base/json_reader.h"
#include "base/split.h"
#include "base/text.h"
#include "base/wording.h"
#include "jobs/job_scheduler.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using CallJson = nlohmann::ordered_json;

constexpr const char* call_origin = "the call";
constexpr const char* answer_origin = "the answer";
constexpr JsonLimits call_limits{call_bytes_max, 8, 200'000};
constexpr std::size_t nonce_length = 32, shown_text_max = 4000, tasks_shown_max = 1000, scripts_shown_max = 2;
constexpr int highest_exit = 255;

bool is_nonce(std::string_view text) {
  return text.size() == nonce_length &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

// A document as it is, with any bytes of text: its digest is compared.
std::string whole_text(JsonObject& object, std::string_view key) {
  const auto* text = object.require(key).get<std::string>();
  if (text == nullptr) object.fail(key, "is no text");
  return *text;
}

SentRecipe recipe_in(const JsonValue& value) {
  JsonObject object(value, call_origin, "a recipe");
  SentRecipe recipe{object.try_text("role").value_or(""), object.text("kind"), object.text("name"),
                    object.text("digest"), whole_text(object, "text")};
  object.finish();
  return recipe;
}

std::string shown_whole(std::string_view text) { return printable(text, 12 * text.size()); }

// Lines of a hint stay lines.
std::string shown_lines(std::string_view text) {
  auto lines = parts_at(text.substr(0, shown_text_max), '\n');
  for (std::string& line : lines) line = printable(line, shown_text_max);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// It is printed to be read and copied: no character of it is hidden.
std::string shown_script(std::string_view text) {
  std::vector<std::string> lines = parts_at(text, '\n');
  for (std::string& line : lines) {
    std::vector<std::string> parts = parts_at(line, '\t');
    for (std::string& part : parts) part = shown_whole(part);
    line = fmt::format("{}", fmt::join(parts, "\t"));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

int exit_in(JsonObject& object, std::string_view key) {
  const auto code = object.try_uint(key);
  if (!code || *code > highest_exit) object.fail(key, "is no exit code");
  return static_cast<int>(*code);
}

JobTaskRecord task_in(const JsonValue& value) {
  JsonObject object(value, answer_origin, "a task");
  JobTaskRecord task;
  task.task = object.try_uint("task").value_or(0);
  task.name = object.try_text("name").value_or("");
  task.state = object.text("state");
  if (!is_among(task.state, job_state_texts)) object.fail("state", "is no state of a job");
  task.reason = object.try_text("reason").value_or("");
  if (auto steps = object.try_object("steps", "the steps")) {
    for (const JsonMember& step : steps->members())
      task.steps.emplace_back(step.key, steps->try_uint(step.key).value_or(0));
  }
  if (object.find("exit") != nullptr) task.exit = exit_in(object, "exit");
  task.starts = static_cast<unsigned>(std::min<std::uint64_t>(object.try_uint("starts").value_or(0), UINT32_MAX));
  task.failure = object.try_text("failure").value_or("");
  object.finish();
  return task;
}

ListedJob listed_job_in(const JsonValue& value) {
  JsonObject object(value, answer_origin, "a job");
  ListedJob job;
  job.directory = object.text("directory");
  job.model = object.text("model");
  job.scheduler = object.text("scheduler");
  job.ids = object.texts("ids");
  job.submitted =
      static_cast<std::int64_t>(std::min<std::uint64_t>(object.try_uint("submitted").value_or(0), INT64_MAX));
  job.state = object.text("state");
  if (object.find("code") != nullptr) job.code = exit_in(object, "code");
  object.finish();
  return job;
}

JobRecord job_record_in(const JsonValue& value) {
  JsonObject object(value, answer_origin, "the record");
  JobRecord record;
  if (object.try_uint("schema") != 1U) object.fail("schema", "is none that this version knows");
  record.directory = shown_whole(object.text("directory"));
  record.scheduler = object.text("scheduler");
  record.ids = object.texts("ids");
  for (std::string& id : record.ids) id = shown_whole(id);
  record.fetch_id = shown_whole(object.try_text("fetch_id").value_or(""));
  if (const auto* scripts = object.try_array("scripts")) {
    for (const JsonValue& each : *scripts) {
      JsonObject script(each, answer_origin, "a script");
      record.scripts.push_back({shown_whole(script.text("file")), shown_script(script.text("text"))});
      script.finish();
    }
  }
  if (const auto* tasks = object.try_array("tasks")) {
    for (const JsonValue& each : *tasks) record.tasks.push_back(task_in(each));
  }
  if (const auto* fetch = object.find("fetch")) record.fetch = task_in(*fetch);
  if (const auto* jobs = object.try_array("jobs")) {
    for (const JsonValue& each : *jobs) record.jobs.push_back(listed_job_in(each));
  }
  record.never = object.try_text("never").value_or("");
  if (object.find("code") != nullptr) record.code = exit_in(object, "code");
  record.exit = exit_in(object, "exit");
  if (record.ids.size() > tasks_shown_max || record.tasks.size() > tasks_shown_max ||
      record.jobs.size() > tasks_shown_max || record.scripts.size() > scripts_shown_max)
    object.fail("tasks", "are more than a job has");
  object.finish();
  return record;
}

FailureKind kind_named(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(FailureKind::internal); ++i) {
    if (name(static_cast<FailureKind>(i)) == word) return static_cast<FailureKind>(i);
  }
  return FailureKind::internal;
}

void read_error(AnswerLine& line, JsonObject& object) {
  auto error = object.try_object("error", "an error");
  line.what = AnswerLine::What::error;
  line.failure.kind = kind_named(error->text("kind"));
  line.failure.message = shown_lines(error->text("message"));
  line.failure.hint = shown_lines(error->try_text("hint").value_or(""));
  error->finish();
  line.exit = exit_in(object, "exit");
}

AnswerLine line_in(JsonObject& object) {
  AnswerLine line;
  if (object.find("tick") != nullptr) {
    line.what = AnswerLine::What::tick;
  } else if (object.find("error") != nullptr) {
    read_error(line, object);
  } else if (const auto message = object.try_text("message")) {
    line = {AnswerLine::What::message, shown_lines(*message), {}, {}, 0};
  } else if (const auto warning = object.try_text("warning")) {
    line = {AnswerLine::What::warning, shown_lines(*warning), {}, {}, 0};
  } else if (const JsonValue* submitted = object.find("submitted")) {
    line = {AnswerLine::What::submitted, {}, job_record_in(*submitted), {}, 0};
  } else {
    line = {AnswerLine::What::record, {}, job_record_in(object.require("record")), {}, 0};
  }
  object.finish();
  return line;
}

}  // namespace

std::string new_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string text_of(const HostCall& call, const std::string& nonce) {
  CallJson json{{"schema", call_version}, {"version", call.version}, {"request", CallJson::parse(call.request_text)}};
  json["recipes"] = CallJson::array();
  for (const SentRecipe& recipe : call.recipes) {
    CallJson& one = json["recipes"].emplace_back(CallJson::object());
    if (!recipe.role.empty()) one["role"] = recipe.role;
    one.update({{"kind", recipe.kind}, {"name", recipe.name}, {"digest", recipe.digest}, {"text", recipe.text}});
  }
  if (call.lock) json["lock"] = *call.lock;
  std::string text;
  try {
    text = json.dump();
  } catch (const CallJson::exception&) {
    throw Error(FailureKind::usage, "what is sent to the other machine is not all UTF-8",
                "write the recipe, the lock and all values in UTF-8");
  }
  if (text.size() > call_bytes_max) {
    throw Error(FailureKind::usage,
                fmt::format("{} of recipes and values are too much for a call", format_bytes(text.size())),
                fmt::format("at most {} are sent: copy the recipes there", format_bytes(call_bytes_max)));
  }
  return fmt::format("sabath-job-call {} {}\n{}", nonce, text.size(), text);
}

CallHead parse_call_head(std::string_view line) {
  constexpr std::string_view begin = "sabath-job-call ";
  std::vector<std::string_view> words;
  for (std::string_view rest = line; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto bytes = words.size() == 3 ? try_whole_number(words[2]) : std::nullopt;
  if (!line.starts_with(begin) || !bytes || *bytes > call_bytes_max || !is_nonce(words[1])) {
    throw Error(FailureKind::invalid, fmt::format("standard input begins with no call: '{}'", printable(line)),
                fmt::format("`{} NAME {} LOGIN`, on another machine, starts this command and tells it what to do",
                            verb_text("job"), option_text("host")));
  }
  return {std::string(words[1]), static_cast<std::size_t>(*bytes)};
}

HostCall parse_host_call(std::string_view json) {
  const JsonValue document = parse_json(json, call_origin, call_limits);
  JsonObject object(document, call_origin, "the call");
  HostCall call;
  if (object.try_uint("schema") != call_version) {
    throw Error(FailureKind::command,
                fmt::format("this is SABATH {}, and the call is of a version that it does not know", SABATH_VERSION),
                "install the same version on both machines");
  }
  call.version = object.text("version");
  call.request = object.require("request");
  if (const JsonValue::Array* recipes = object.try_array("recipes")) {
    if (recipes->size() > sent_recipes_max) object.fail("recipes", fmt::format("are more than {}", sent_recipes_max));
    for (const JsonValue& value : *recipes) call.recipes.push_back(recipe_in(value));
  }
  if (object.find("lock") != nullptr) {
    call.lock = whole_text(object, "lock");
    if (call.lock->size() > sent_lock_bytes_max) object.fail("lock", "is too long");
  }
  object.finish();
  return call;
}

std::string answer_mark(const std::string& nonce) { return fmt::format("sabath-job-answer {} ", nonce); }
std::string answer_head(const std::string& nonce) { return answer_mark(nonce) + SABATH_VERSION + "\n"; }

AnswerLine parse_answer_line(std::string_view line) {
  try {
    const JsonValue document = parse_json(line, answer_origin, call_limits);
    JsonObject object(document, answer_origin, "a line");
    return line_in(object);
  } catch (const Error& error) {
    throw Error(FailureKind::command, fmt::format("what it answers is not understood: {}", error.failure().message),
                "install the same version of SABATH on both machines");
  }
}

}  // namespace sabath
