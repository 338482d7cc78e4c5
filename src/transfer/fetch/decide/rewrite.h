// Rewrite rules: a site points true URLs at its own mirror. Pure; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sabath/url.h"

namespace sabath {

using RewriteRules = std::vector<std::pair<std::string, std::string>>;  // URL prefix -> prefix

// The first rule whose prefix the URL's text begins with is applied, once. Throws Error{usage} if the result is no URL.
[[nodiscard]] Url rewritten(const Url& url, const RewriteRules& rules);

}  // namespace sabath
