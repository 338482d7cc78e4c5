// The fetchers that are external programs: one for each description (description.h). What a program writes is hashed
// like any other source's bytes before it becomes part of the store.
#pragma once

#include <memory>
#include <vector>

#include "sabath/fetcher.h"

namespace sabath {

// One for each description in the settings' directories, in their order; each serves the schemes that it names.
[[nodiscard]] std::vector<std::unique_ptr<Fetcher>> make_command_fetchers(const FetcherSettings& settings);

}  // namespace sabath
