// What the conversions ask of a call: values by name, names of what they make, whether they are to stop.
#pragma once

#include <string>
#include <string_view>

#include "builtin/builtin.h"

namespace sabath::conversion {

[[nodiscard]] const std::string& text_of(const BuiltinCall& call, std::string_view name);
[[nodiscard]] bool flag_of(const BuiltinCall& call, std::string_view name);
[[nodiscard]] int number_of(const BuiltinCall& call, std::string_view name);

// The input's name without `ending`, or without what stands behind its last dot.
[[nodiscard]] std::string stem_of(const BuiltinCall& call, std::string_view ending = {});
[[nodiscard]] std::string input_text(const BuiltinCall& call);  // for messages
void heed(const BuiltinCall& call);                             // throws Error{interrupted} after a stop request

}  // namespace sabath::conversion
