// The meaning of a libcurl result code: the kind decides retry and exit code, the hint says what a user can do.
// Pure but for its questions to the handle; throws nothing but bad_alloc.
#pragma once

#include <curl/curl.h>

#include <string_view>

#include "sabath/error.h"
#include "sabath/url.h"

namespace sabath {

// `detail` is libcurl's error buffer: it may hold the peer's words. `easy` is the handle that failed.
[[nodiscard]] Failure failure_of(CURLcode code, CURL* easy, std::string_view detail, const Url& url);

}  // namespace sabath
