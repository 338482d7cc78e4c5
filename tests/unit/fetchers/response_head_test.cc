#include "http/response_head.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

ResponseHead parsed(std::initializer_list<std::string_view> lines) {
  HeadParser parser("source");
  for (const auto line : lines) {
    if (parser.feed(line)) ADD_FAILURE() << "complete too early";
  }
  EXPECT_TRUE(parser.feed(""));
  return parser.head();
}

TEST(ContentRange, Grammar) {
  using R = ContentRange;
  const std::pair<std::string_view, std::optional<R>> cases[] = {
      {"bytes 0-9/100", R{0, 9, 100}},
      {"BYTES 5-5/6", R{5, 5, 6}},
      {"bytes 0-9/*", R{0, 9, {}}},
      {"bytes */100", R{{}, {}, 100}},
      {"bytes 18446744073709551614-18446744073709551614/18446744073709551615",
       R{UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX}},
      {"", {}},
      {"bytes", {}},
      {"bytes 0-9", {}},
      {"items 0-9/100", {}},
      {"bytes 9-0/100", {}},
      {"bytes 0-100/100", {}},
      {"bytes */*", {}},
      {"bytes -9/100", {}},
      {"bytes 0-/100", {}},
      {"bytes 0-9/", {}},
      {"bytes +0-9/100", {}},
      {"bytes 0-9/100 ", {}},
      {"bytes 0-9,20-29/100", {}},
      {"bytes 0-18446744073709551616/*", {}},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(try_parse_content_range(text), expected) << text;
}

TEST(HeadParser, KeepsWhatReadsNeed) {
  const ResponseHead head = parsed({"HTTP/1.1 206 Partial Content", "Content-Length:  10 ", "ETAG: W/\"x\"",
                                    "Content-Type: Text/HTML; charset=utf-8", "accept-ranges: Bytes",
                                    "Content-Range: bytes 0-9/20", "Last-Modified: then"});
  EXPECT_EQ(head.status, 206);
  EXPECT_EQ(head.reason, "Partial Content");
  EXPECT_EQ(head.content_length, 10u);
  EXPECT_EQ(head.etag, "W/\"x\"");
  EXPECT_EQ(head.content_type, "text/html");
  EXPECT_EQ(head.content_range, "bytes 0-9/20");
  EXPECT_EQ(head.last_modified, "then");
  EXPECT_TRUE(head.accepts_ranges);
}

TEST(HeadParser, InterimHeadsAreForgotten) {
  HeadParser parser("source");
  for (const auto* line : {"HTTP/1.1 103 Early Hints", "Content-Length: 7", "ETag: \"no\""})
    EXPECT_FALSE(parser.feed(line));
  EXPECT_FALSE(parser.feed(""));
  EXPECT_FALSE(parser.feed("HTTP/1.1 200 OK"));
  EXPECT_TRUE(parser.feed(""));
  EXPECT_EQ(parser.head().status, 200);
  EXPECT_EQ(parser.head().content_length, std::nullopt);
  EXPECT_EQ(parser.head().etag, "");
}

TEST(HeadParser, ChunkedOverridesLength) {
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked"}).content_length,
            std::nullopt);
}

TEST(HeadParser, EqualLengthsTwiceAreHarmless) {
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 5"}).content_length, 5u);
}

TEST(HeadParser, WhatIsDoneToTheBytes) {
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "Content-Encoding: Identity"}).content_encoding, "");
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "Content-Encoding: x-gzip"}).content_encoding, "x-gzip");
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "Content-Encoding: br", "Content-Encoding: GZIP"}).content_encoding, "br, GZIP");
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "Content-Encoding: aws-chunked, gzip,"}).content_encoding, "gzip");
  for (const char* none : {"", ",", "aws-chunked", "aws-chunked,", "UTF-8", "binary", "none", "7bit", "text/plain"}) {
    const auto head = parsed({"HTTP/1.1 200 OK", "Content-Encoding: " + std::string(none)});
    EXPECT_EQ(head.content_encoding, "") << none << ": is how no bytes are coded";
  }
  EXPECT_TRUE(parsed({"HTTP/1.1 200 OK", "Warning: 214 UploadServer gunzipped"}).transformed);
  EXPECT_FALSE(parsed({"HTTP/1.1 200 OK", "Warning: 110 - stale"}).transformed);
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "X-Goog-Stored-Content-Encoding: gzip"}).stored_encoding, "gzip");
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "X-Goog-Stored-Content-Encoding: identity"}).stored_encoding, "");
  EXPECT_EQ(parsed({"HTTP/1.1 200 OK", "X-Goog-Stored-Content-Encoding: UTF-8"}).stored_encoding, "");
}

TEST(HeadParser, RefusesContradictions) {
  const std::string long_line = "X: " + std::string(70'000, 'a');
  const std::initializer_list<std::initializer_list<std::string_view>> heads = {
      {"HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6"},
      {"HTTP/1.1 200 OK", "Content-Length: -5"},
      {"HTTP/1.1 200 OK", "Content-Length: 5, 5"},
      {"HTTP/1.1 200 OK", "Content-Length: 99999999999999999999"},
      {"HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked"},
      {"HTTP/1.1 206 OK", "Content-Range: bytes 0-1/2", "Content-Range: bytes 1-1/2"},
      {"HTTP/1.1 302 OK", "Location: /a", "Location: /b"},
      {"HTTP/1.1 200 OK", "no colon"},
      {"HTTP/1.1 200 OK", long_line},
      {"HTTP/1.1 999 OK"},
      {"ICY 200 OK"},
      {"HTTP/1.1"},
  };
  for (const auto& head : heads) {
    HeadParser parser("source");
    try {
      for (const auto line : head) static_cast<void>(parser.feed(line));
      ADD_FAILURE() << *(head.end() - 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::unavailable);
    }
  }
}

}  // namespace
}  // namespace sabath
