// A step of a derived asset's lineage as JSON: the form that recipes, manifests, records and answers share. Pure; any
// thread. The reader is recipe/supporting.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sabath/supporting.h"

namespace sabath {

[[nodiscard]] nlohmann::ordered_json json_of(const DerivationStep& step);

}  // namespace sabath
