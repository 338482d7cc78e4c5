#include "fetch/decide/rewrite.h"

#include <fmt/format.h>

#include "sabath/error.h"

namespace sabath {

Url rewritten(const Url& url, const RewriteRules& rules) {
  for (const auto& [from, to] : rules) {
    if (from.empty() || !url.text().starts_with(from)) continue;
    const std::string text = to + url.text().substr(from.size());
    if (auto result = Url::try_parse(text)) return *result;
    throw Error(FailureKind::usage, fmt::format("the rewrite rule {}={} makes no URL of {}", from, to, url.display()),
                "a rule is PREFIX=PREFIX, both ending alike, e.g. https://host/=http://127.0.0.1:8000/");
  }
  return url;
}

}  // namespace sabath
