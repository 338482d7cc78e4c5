// A task file as the papers write them, mapped to the request of a verb. docs/convert.md lists the keys. Pure; any
// thread. Throws Error{invalid} with file and line for a file that is none, or has a key or a value that means nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/verbs/convert.h"
#include "sabath/verbs/infer.h"

namespace sabath {

struct TaskPlan {
  enum class Kind { conversion, inference, search, load };
  Kind kind = Kind::conversion;
  ConvertRequest convert;                           // of a conversion
  InferRequest infer;                               // of an inference
  std::vector<std::filesystem::path> export_files;  // of a conversion: where the models are copied to
  std::vector<std::string> words;                   // of a search: what is searched; of a load: assets' names
};

[[nodiscard]] TaskPlan plan_task(std::string_view text, const std::string& origin);
[[nodiscard]] std::string_view name(TaskPlan::Kind kind) noexcept;

}  // namespace sabath
