// A verb of the library, called by its name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sabath/error.h"
#include "sabath/session.h"

namespace sabath::test {

// The record, as text. Throws what the verb throws.
[[nodiscard]] std::string ask(Session& session, std::string_view verb, const nlohmann::ordered_json& request);
// The failure of a request that is refused; the test fails if it is not.
[[nodiscard]] Failure refusal(Session& session, std::string_view verb, const nlohmann::ordered_json& request);

}  // namespace sabath::test
