// What requests by name have in common. Throws what JsonObject throws.
#pragma once

#include "base/json_reader.h"
#include "sabath/environment.h"

namespace sabath {

// "environment": an object of strings; absent: that of this process.
[[nodiscard]] Environment environment_in(JsonObject& request);

}  // namespace sabath
