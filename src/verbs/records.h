// The records of all verbs as the JSON that `--json` prints; what to_json() says is the text of it. Pure; any thread.
#pragma once

#include "verbs/verb.h"

namespace sabath {

struct FetchRecord;
struct PlanRecord;
struct StageRecord;
struct UsageRecord;

[[nodiscard]] Json json_of(const FetchRecord& record);
[[nodiscard]] Json json_of(const PlanRecord& record);
[[nodiscard]] Json json_of(const StageRecord& record);
[[nodiscard]] Json json_of(const UsageRecord& record);

}  // namespace sabath
