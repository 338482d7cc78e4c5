// A data file's format by its content, and its facts: include/sabath/verbs/inspect.h says which. One thread at a time.
// Throws as that says.
#pragma once

#include <functional>

#include "sabath/verbs/inspect.h"

namespace sabath {

[[nodiscard]] InspectRecord inspect_file(
    const std::filesystem::path& file, const std::function<void()>& on_progress = [] {});

}  // namespace sabath
