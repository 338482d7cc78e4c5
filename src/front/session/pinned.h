// Reads the manifest that a recipe pins from its URLs, for a plan: it stays in memory, and nothing is written. One
// thread.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "fetch/decide/rewrite.h"
#include "manifest/manifest.h"
#include "sabath/fetcher.h"
#include "sabath/recipe.h"

namespace sabath {

// nullopt: nothing is pinned, or none of its places gives this manifest; why not is one of `warnings`. Throws
// Error{interrupted} only.
[[nodiscard]] std::optional<Manifest> ask_pinned(const Recipe& recipe, const RewriteRules& rewrites,
                                                 const FetcherSet& fetchers, Traffic& traffic,
                                                 std::vector<std::string>& warnings, const std::stop_token& stop);

}  // namespace sabath
