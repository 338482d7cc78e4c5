// Refuses a web page where data was asked for: login pages, file viewers, captive portals. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sabath/error.h"
#include "sabath/fetcher.h"
#include "sabath/url.h"

namespace sabath {

// `first`: the first bytes of the body. A source whose own name ends in .html, .htm or .xhtml may be a page.
[[nodiscard]] std::optional<Failure> refuse_page(const Url& url, const ContentInfo& info,
                                                 std::span<const std::byte> first);

}  // namespace sabath
