// The settings that a session of the C interface is opened with. Any thread. Throws Error{usage}, Error{invalid}.
#pragma once

#include <string_view>

#include "sabath/session.h"

namespace sabath {

// `text`: the JSON that sabath_open() takes. What it does not say, environment and configuration files do, as for the
// program that this library was installed with.
[[nodiscard]] SessionSettings opened_settings(std::string_view text);

}  // namespace sabath
