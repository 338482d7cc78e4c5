// The conversions of src/derived/builtin as scripts, beside those of recipes. Pure; any thread.
#pragma once

#include <map>
#include <string>

#include "builtin/builtin.h"
#include "sabath/supporting.h"

namespace sabath {

[[nodiscard]] SupportingScript script_of(const Builtin& builtin);
[[nodiscard]] std::map<std::string, std::string> tools_of(const Builtin& builtin);  // by name: versions

}  // namespace sabath
