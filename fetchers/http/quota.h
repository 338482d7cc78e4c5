// The time after which a server wants to be asked again, by its headers. Pure. `now`: seconds since 1970. Never
// negative, at most an hour.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "http/response_head.h"

namespace sabath {

// Retry-After (RFC 9110 section 10.2.3): a delay in seconds or an HTTP-date. nullopt if it is neither.
[[nodiscard]] std::optional<std::chrono::milliseconds> try_parse_retry_after(const std::string& text, std::int64_t now);

// Until a quota that is used up is renewed; nullopt while requests are left, or nothing is said. Of several the last.
//   RateLimit: "minute";r=0;t=12, "hour";r=99;t=600     draft-ietf-httpapi-ratelimit-headers-08 and later
//   RateLimit: limit=60, remaining=0, reset=12          -03 to -07
//   [X-]RateLimit-Remaining: 0, [X-]RateLimit-Reset: 12 or seconds since 1970
[[nodiscard]] std::optional<std::chrono::milliseconds> quota_pause(const ResponseHead& head, std::int64_t now);

}  // namespace sabath
