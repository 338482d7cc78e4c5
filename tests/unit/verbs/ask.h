// A verb of the library, called by its name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sabath/error.h"
#include "sabath/session.h"

namespace sabath::test {

// The record, as text; what is thrown is thrown on.
[[nodiscard]] std::string ask(Session& session, std::string_view verb, const nlohmann::ordered_json& request);
// What the refusal says; the test fails where there is none.
[[nodiscard]] Failure refusal(Session& session, std::string_view verb, const nlohmann::ordered_json& request);

}  // namespace sabath::test
