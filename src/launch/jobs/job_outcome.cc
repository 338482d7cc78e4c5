#include "jobs/job_outcome.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "jobs/job_plan.h"
#include "jobs/job_scheduler.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t outcome_file_max = 1 << 20;
constexpr std::uint64_t outcome_exit_max = 255, outcome_starts_max = 1'000'000;
constexpr std::size_t outcome_reason_max = 300;

}  // namespace

JobOutcome::JobOutcome(const std::filesystem::path& directory) : file_(directory / "outcome.json") {
  try {
    if (const auto text = try_read_text(file_, outcome_file_max)) read(*text);
  } catch (const Error&) {
    ends_.clear();
  }
}

void JobOutcome::read(std::string_view text) {
  const JsonValue document = parse_json(text, file_.native());
  JsonObject object(document, file_.native(), "what was seen of a job");
  if (object.try_uint("schema") != 1U) object.fail("schema", "must be 1");
  const auto* tasks = object.try_array("tasks");
  for (std::size_t i = 0; tasks != nullptr && i < std::min(tasks->size(), job_tasks_max); ++i) {
    JsonObject each((*tasks)[i], file_.native(), "a task");
    SeenEnd end;
    end.state = each.text("state");
    if (!is_among(end.state, job_state_texts)) each.fail("state", "is no state of a job");
    end.reason = each.try_text("reason").value_or("");
    end.exit = static_cast<int>(std::min(each.try_uint("exit").value_or(0), outcome_exit_max));
    end.starts = static_cast<unsigned>(std::min(each.try_uint("starts").value_or(0), outcome_starts_max));
    ends_.emplace(each.try_uint("task").value_or(0), std::move(end));
  }
}

const SeenEnd* JobOutcome::find(std::uint64_t task, unsigned starts) const {
  const auto found = ends_.find(task);
  return found != ends_.end() && found->second.starts == starts ? &found->second : nullptr;
}

void JobOutcome::note(std::uint64_t task, SeenEnd end) {
  if (task >= job_tasks_max || find(task, end.starts) != nullptr) return;
  if (end.reason.size() > outcome_reason_max) end.reason.clear();
  ends_[task] = std::move(end);
  changed_ = true;
}

void JobOutcome::save() {
  if (!std::exchange(changed_, false)) return;
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const auto& [task, end] : ends_) {
    tasks.push_back({{"task", task},
                     {"starts", end.starts},
                     {"state", end.state},
                     {"reason", end.reason.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(end.reason)},
                     {"exit", end.exit}});
  }
  const nlohmann::ordered_json json{{"schema", 1}, {"tasks", std::move(tasks)}};
  write_text_atomically(file_, json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace sabath
