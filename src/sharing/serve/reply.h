// Chooses the part of a content that answers a request, by its conditions and its range (RFC 9110 sections 13 and 14):
// a pure function, tested from a table. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sabath {

struct Conditions {                         // header fields as the client sent them; empty: absent
  std::string_view range;                   // of a GET: of other methods it means nothing
  std::string if_match{}, if_none_match{};  // all lines of that name, as one list
  std::string_view if_range{};
};

struct Reply {
  int status = 200;                      // 200, 206, 304, 412, 416
  std::uint64_t offset = 0, length = 0;  // the body, as a part of the content; 0 unless 200 or 206
  friend bool operator==(const Reply&, const Reply&) = default;
};

// `etag` with its quotes. It understands one range; it answers several, or any other text, with the whole.
[[nodiscard]] Reply reply_to(const Conditions& conditions, std::uint64_t size_bytes, std::string_view etag);

// The Content-Range of a 206 or a 416.
[[nodiscard]] std::string content_range(const Reply& reply, std::uint64_t size_bytes);

}  // namespace sabath
