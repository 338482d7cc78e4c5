// A plan as people read it. docs/planning.md. Pure; any thread.
#pragma once

#include <string>

#include "sabath/verbs/plan.h"

namespace sabath::cli {

// `verbose`: also what could not be asked.
[[nodiscard]] std::string to_text(const PlanRecord& record, bool verbose);

}  // namespace sabath::cli
