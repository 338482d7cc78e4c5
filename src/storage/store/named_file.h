// Files of this machine that a recipe or a list names: others name none that they could not read themselves.
// Any thread. Throws Error{access}, Error{storage}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sabath/url.h"

namespace sabath {

// `file` may be a link in /proc/self/fd; `name`: for people. What came over a network names no file at all.
void check_named_file(const std::optional<Namer>& namer, const std::filesystem::path& file, const std::string& name);

}  // namespace sabath
