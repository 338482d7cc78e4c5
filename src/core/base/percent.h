// Percent-encoding (RFC 3986, section 2) for parts of a URL. sabath/url.h decodes. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sabath {

// A path: everything but unreserved characters and '/' becomes %XX.
[[nodiscard]] std::string percent_encode_path(std::string_view path);
// One component, or a value of a query: '/' as well.
[[nodiscard]] std::string percent_encode(std::string_view text);
// A reference as servers write it into links and Location: raw blanks and UTF-8 become %XX, all else stays.
[[nodiscard]] std::string percent_encode_raw(std::string_view reference);

}  // namespace sabath
