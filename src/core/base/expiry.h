// When a permission ends, by its own text: a presigned URL, a token, or a time. Pure; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "sabath/url.h"

namespace sabath {

using WallTime = std::chrono::system_clock::time_point;

// "2026-11-21T18:00:00Z", "2026-11-21T18:00:00+01:00", "20261121T180000Z", also without seconds. A time without a zone
// is nullopt, but for `local`, as this machine's.
[[nodiscard]] std::optional<WallTime> try_parse_time(std::string_view text, bool local = false);

// X-Amz-Date and X-Amz-Expires (S3), X-Goog-Date and X-Goog-Expires (Google), Expires (S3's old way), se (Azure).
[[nodiscard]] std::optional<WallTime> presigned_until(const Url& url);

// The claim `exp` of a JSON web token (RFC 7519). Its signature is not checked here.
[[nodiscard]] std::optional<WallTime> token_until(std::string_view token);

}  // namespace sabath
