// The names that a user may give an asset here, for the completion of a command line. One thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/recipe.h"
#include "sabath/session_settings.h"

namespace sabath {

// Those that begin with `begun`, in byte order. Reads names of files, no recipe: it takes milliseconds for thousands.
[[nodiscard]] std::vector<std::string> known_names(const SessionSettings& settings, std::optional<AssetKind> kind,
                                                   std::string_view begun);

}  // namespace sabath
