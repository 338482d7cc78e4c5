// A plan as people read it, and as the record of --json. docs/planning.md. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sabath/plan.h"

namespace sabath::cli {

[[nodiscard]] nlohmann::ordered_json to_json(const PlanRecord& record);
// `verbose`: also what could not be asked.
[[nodiscard]] std::string to_text(const PlanRecord& record, bool verbose);

}  // namespace sabath::cli
