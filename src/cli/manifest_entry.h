// A manifest entry as a line and as JSON. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "manifest/manifest.h"

namespace sabath::cli {

[[nodiscard]] std::string entry_line(const Entry& entry);  // "f      1234  <64 hex>  path"
[[nodiscard]] nlohmann::ordered_json entry_record(const Entry& entry);

}  // namespace sabath::cli
