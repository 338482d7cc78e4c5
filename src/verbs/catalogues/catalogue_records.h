// A tombstone as the JSON that `info` prints. Pure; any thread.
#pragma once

#include "sabath/catalogues.h"
#include "verbs/verb.h"

namespace sabath {

[[nodiscard]] Json json_of(const Tombstone& stone);

}  // namespace sabath
