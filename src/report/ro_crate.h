// A run as a Process Run Crate (RO-Crate 1.1): the JSON-LD that, as ro-crate-metadata.json in the run's directory, says
// what was run, with which data and on what, and which files came of it. Throws Error{usage} for a plain log.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/run.h"

namespace sabath {

[[nodiscard]] nlohmann::ordered_json ro_crate(const Run& run);

}  // namespace sabath
