// The head of an HTTP response as values, read line by line and strictly: a head that contradicts itself is refused,
// because two readers of such a response may see two different bodies. Pure; throws Error{unavailable}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

// Content-Range (RFC 9110 section 14.4). "bytes */1000" has a total only, "bytes 0-9/*" has no total.
struct ContentRange {
  std::optional<std::uint64_t> first, last, total;
  friend bool operator==(const ContentRange&, const ContentRange&) = default;
};
[[nodiscard]] std::optional<ContentRange> try_parse_content_range(std::string_view text);

struct ResponseHead {
  int status = 0;
  std::string reason;                           // the server's words: escape before showing
  std::optional<std::uint64_t> content_length;  // absent too when the body is chunked
  std::string content_range, content_type, etag, last_modified, location, retry_after;
  std::string quota, quota_remaining, quota_reset;  // RateLimit, [X-]RateLimit-Remaining, [X-]RateLimit-Reset
  std::string digests, content_digests;             // of the whole: Digest, Repr-Digest; of this answer: Content-Digest
  std::string linked_etag;                          // X-Linked-Etag: a hub's, of what it redirects to
  std::string content_encoding, stored_encoding;    // Content-Encoding; X-Goog-Stored-Content-Encoding; "": identity
  bool transformed = false;                         // Warning: 214 (RFC 7234 section 5.5.6)
  bool accepts_ranges = false;
  bool stream = false;  // of HTTP/2 or later
};

class HeadParser {
 public:
  explicit HeadParser(std::string source) : source_(std::move(source)) {}  // its name, for messages
  // One line without its line end. True: the final head is complete (1xx heads before it are forgotten).
  [[nodiscard]] bool feed(std::string_view line);
  [[nodiscard]] const ResponseHead& head() const noexcept { return head_; }

 private:
  void feed_status_line(std::string_view line);
  void add_codings(std::string_view list);
  void feed_field(std::string_view name, std::string_view value);
  void set_once(std::string& field, std::string_view name, std::string_view value);
  [[noreturn]] void refuse(std::string_view why) const;

  std::string source_;
  ResponseHead head_;
  std::size_t size_bytes_ = 0;
  bool chunked_ = false;
};

}  // namespace sabath
