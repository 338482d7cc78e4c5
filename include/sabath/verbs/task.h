// A task file as HPCFAIR's papers write them, carried out by the verbs: docs/convert.md. Throws Error{not_found},
// Error{invalid} with file and line, and what the verbs throw.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/verbs/convert.h"
#include "sabath/verbs/infer.h"

namespace sabath {

struct TaskRequest {
  std::filesystem::path file;
  bool dry_run = false;  // say what would be done
  Environment environment;
  std::string trust;  // of a conversion: as in ConvertRequest
  std::function<std::string(const std::string& about)> ask;
};

struct TaskRecord {
  std::string task, verb;           // "conversion", "convert"
  std::vector<std::string> models;  // that it works on, or the words of a search
  std::optional<ConvertRecord> converted;
  std::optional<InferRecord> inferred;
  std::vector<std::string> found;  // assets that a search found, or that were loaded
  std::vector<std::filesystem::path> written;
  int exit = 0;
};

[[nodiscard]] TaskRecord run_task(Session& session, const TaskRequest& request, EventSink& events,
                                  std::stop_token stop = {});
[[nodiscard]] std::string to_json(const TaskRecord& record);

}  // namespace sabath
