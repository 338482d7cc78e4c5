// A recipe as the JSON record and as the text that `info` prints. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "verbs/assets.h"

namespace sabath::cli {

// Name, kind, version, size and title, and whether the store has it: what `list` and `search` say.
[[nodiscard]] nlohmann::ordered_json brief_record(const Recipe& recipe, const Holding& holding);
[[nodiscard]] nlohmann::ordered_json full_record(const Recipe& recipe, const Holding& holding);
[[nodiscard]] std::string full_text(const Recipe& recipe, const Holding& holding, std::size_t width);

}  // namespace sabath::cli
