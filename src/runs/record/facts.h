// The leaves of a JSON document as texts, by their paths, for users and exports. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

using Facts = std::vector<std::pair<std::string, std::string>>;

// {"cpu.model", "..."}, in the document's order; the text of null is "".
[[nodiscard]] Facts facts_of(const nlohmann::ordered_json& document);

}  // namespace sabath
