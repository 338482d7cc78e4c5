#include "http/verdict.h"
#include "http/quota.h"

#include <gtest/gtest.h>

namespace sabath {
namespace {

using Action = AnswerVerdict::Action;
constexpr std::optional<std::uint64_t> none;

ReadRequest request(std::uint64_t offset, std::optional<std::uint64_t> length, Validators expected = {}) {
  return {Url::parse("https://a.example/f"), offset, length, std::move(expected)};
}

ResponseHead head(int status, std::string content_range = {}, std::optional<std::uint64_t> length = {}) {
  ResponseHead head;
  head.status = status;
  head.content_range = std::move(content_range);
  head.content_length = length;
  return head;
}

AnswerVerdict verdict(const ReadRequest& asked, const ResponseHead& said) { return judge(asked, said, "source", 0); }

TEST(AnswerVerdict, Delivers) {
  struct Case {
    ReadRequest asked;
    ResponseHead said;
    std::optional<std::uint64_t> wanted, size;
  };
  const Case cases[] = {
      {request(0, none), head(200, "", 100), 100, 100},
      {request(0, none), head(200), none, none},
      {request(0, 10), head(200, "", 100), 10, 100},  // the range was ignored, but it begins where the body does
      {request(0, 200), head(200, "", 100), 100, 100},
      {request(0, 10), head(200), none, none},
      {request(0, 10), head(206, "bytes 0-9/100", 10), 10, 100},
      {request(0, 10), head(206, "bytes 0-9/*"), 10, none},
      {request(90, 20), head(206, "bytes 90-99/100"), 10, 100},
      {request(90, none), head(206, "bytes 90-99/100"), 10, 100},
      {request(90, none), head(206, "bytes 90-99/*"), 10, none},
      {request(5, 0), head(206, "bytes 5-5/100"), 0, 100},
      {request(100, none), head(416, "bytes */100"), 0, 100},
      {request(0, 10), head(416, "bytes */0"), 0, 0},
  };
  for (const Case& c : cases) {
    const AnswerVerdict v = verdict(c.asked, c.said);
    EXPECT_EQ(v.action, Action::deliver) << c.said.content_range << v.failure.message;
    EXPECT_EQ(v.wanted, c.wanted) << c.said.content_range;
    EXPECT_EQ(v.info.size_bytes, c.size) << c.said.content_range;
    EXPECT_EQ(v.info.ranges, c.said.status != 200);
  }
}

// A slice is one by what its head says of it, under any number. As much as was asked for, and no word more, may be
// either.
TEST(AnswerVerdict, TakesNoSliceForTheWhole) {
  struct Case {
    ReadRequest asked;
    ResponseHead said;
    std::optional<std::uint64_t> wanted, size;
    bool ranges;
  };
  const Case cases[] = {
      {request(0, 10), head(200, "bytes 0-9/100", 10), 10, 100, true},
      {request(90, 20), head(200, "bytes 90-99/100", 10), 10, 100, true},
      {request(5, 0), head(200, "bytes 5-5/100", 1), 0, 100, true},
      {request(0, 10), head(200, "bytes 0-9/100"), 10, 100, true},
      {request(0, 10), head(200, "bytes 0-9/*", 10), 10, none, true},
      {request(0, 10), head(200, "bytes 0-9/100", 100), 10, 100, false},  // it says so, and sends all
      {request(0, 10), head(200, "bytes 0-99/100", 100), 10, 100, false},
      {request(0, none), head(200, "bytes 0-99/100", 100), 100, 100, false},
      {request(0, none), head(200, "bytes 0-99/*", 100), 100, 100, false},
      {request(0, none), head(200, "items 0-9/100", 10), 10, 10, false},
      {request(0, 10), head(200, "", 10), 10, none, false},
      {request(0, 0), head(200, "", 1), 0, none, false},
  };
  for (const Case& c : cases) {
    const AnswerVerdict v = verdict(c.asked, c.said);
    EXPECT_EQ(v.action, Action::deliver) << c.said.content_range << v.failure.message;
    EXPECT_EQ(v.wanted, c.wanted) << c.said.content_range;
    EXPECT_EQ(v.info.size_bytes, c.size) << c.said.content_range;
    EXPECT_EQ(v.info.ranges, c.ranges) << c.said.content_range;
  }
}

TEST(AnswerVerdict, Refuses) {
  struct Case {
    ReadRequest asked;
    ResponseHead said;
    FailureKind kind;
  };
  const Validators begun{"\"a\"", ""};
  const Case cases[] = {
      {request(1, none), head(200, "", 100), FailureKind::no_ranges},
      {request(1, none), head(200, "bytes 0-99/100", 100), FailureKind::no_ranges},
      {request(0, 10), head(200, "bytes 10-19/100", 10), FailureKind::no_ranges},
      {request(0, 10), head(200, "bytes 0-9/100", 50), FailureKind::no_ranges},
      {request(0, none), head(200, "bytes 0-9/100", 10), FailureKind::unavailable},
      {request(0, none), head(206, "bytes 0-9/100"), FailureKind::unavailable},
      {request(0, 10), head(206), FailureKind::no_ranges},
      {request(0, 10), head(206, "bytes 1-10/100"), FailureKind::no_ranges},
      {request(0, 10), head(206, "bytes 0-8/100"), FailureKind::no_ranges},
      {request(0, 10), head(206, "bytes 0-10/100"), FailureKind::no_ranges},
      {request(0, 10), head(206, "bytes 0-9/100", 11), FailureKind::no_ranges},
      {request(0, 10), head(206, "bytes 0-4/*"), FailureKind::no_ranges},
      {request(0, 10), head(206, "bytes */100"), FailureKind::no_ranges},
      {request(5, none), head(206, "bytes 5-98/100"), FailureKind::no_ranges},
      {request(101, none), head(416, "bytes */100"), FailureKind::unavailable},
      {request(101, none, begun), head(416, "bytes */100"), FailureKind::changed},
      {request(101, none), head(416), FailureKind::unavailable},
      {request(1, none, begun), head(412), FailureKind::changed},
      {request(0, none), head(401), FailureKind::access},
      {request(0, none), head(403), FailureKind::access},
      {request(0, none), head(407), FailureKind::access},
      {request(0, none), head(404), FailureKind::unavailable},
      {request(0, none), head(410), FailureKind::unavailable},
      {request(0, none), head(451), FailureKind::unavailable},
      {request(0, none), head(202), FailureKind::network},
      {request(0, none), head(204), FailureKind::unavailable},
      {request(0, none), head(304), FailureKind::unavailable},
      {request(0, none), head(302), FailureKind::unavailable},  // without Location
      {request(0, none), head(408), FailureKind::network},
      {request(0, none), head(429), FailureKind::network},
      {request(0, none), head(500), FailureKind::network},
      {request(0, none), head(503), FailureKind::network},
  };
  for (const Case& c : cases) {
    const AnswerVerdict v = verdict(c.asked, c.said);
    EXPECT_EQ(v.action, Action::refuse) << c.said.status;
    EXPECT_EQ(v.failure.kind, c.kind) << c.said.status << ' ' << c.said.content_range << ' ' << v.failure.message;
  }
}

TEST(AnswerVerdict, ComparesVersions) {
  struct Case {
    Validators expected, found;
    bool changed;
  };
  const Case cases[] = {
      {{"\"a\"", "x"}, {"\"a\"", "y"}, false},  // an entity tag is exact, a date is not
      {{"\"a\"", "x"}, {"\"b\"", "x"}, true},  {{"\"a\"", "x"}, {"", "x"}, false}, {{"\"a\"", "x"}, {"", "y"}, true},
      {{"\"a\"", ""}, {"", ""}, false},        {{"", "x"}, {"\"a\"", "x"}, false}, {{"", ""}, {"\"a\"", "x"}, false},
  };
  for (const Case& c : cases) {
    for (const int status : {200, 206}) {
      ResponseHead said = head(status, "bytes 0-9/10", 10);
      said.etag = c.found.etag;
      said.last_modified = c.found.last_modified;
      const AnswerVerdict v = verdict(request(0, 10, c.expected), said);
      EXPECT_EQ(v.action == Action::refuse && v.failure.kind == FailureKind::changed, c.changed)
          << c.expected.etag << c.found.etag;
    }
  }
}

TEST(AnswerVerdict, RequestHeaders) {
  using Lines = std::vector<std::string>;
  const std::string identity = "Accept-Encoding: identity";
  EXPECT_EQ(headers_for(request(0, none)), Lines{identity});
  ReadRequest stored = request(0, none);
  stored.coding = Coding::stored;
  EXPECT_EQ(headers_for(stored), Lines{"Accept-Encoding: gzip"});
  EXPECT_EQ(headers_for(request(5, none)), (Lines{identity, "Range: bytes=5-"}));
  EXPECT_EQ(headers_for(request(5, 10)), (Lines{identity, "Range: bytes=5-14"}));
  EXPECT_EQ(headers_for(request(5, 0)), (Lines{identity, "Range: bytes=5-5"}));
  EXPECT_EQ(headers_for(request(5, UINT64_MAX)), (Lines{identity, "Range: bytes=5-"}));
  EXPECT_EQ(headers_for(request(0, none, {"\"a\"", "d"})), (Lines{identity, "If-Match: \"a\""}));
  EXPECT_EQ(headers_for(request(0, none, {"W/\"a\"", "d"})), Lines{identity});
  EXPECT_EQ(headers_for(request(0, none, {"", "d"})), (Lines{identity, "If-Unmodified-Since: d"}));
  EXPECT_EQ(headers_for(request(0, none, {"a\r\nX: y", ""})), Lines{identity});
}

TEST(RetryAfter, SecondsAndDates) {
  using std::chrono::seconds;
  const std::int64_t now = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(try_parse_retry_after("2", now), seconds(2));
  EXPECT_EQ(try_parse_retry_after("0", now), seconds(0));
  EXPECT_EQ(try_parse_retry_after("999999999", now), seconds(3600));
  EXPECT_EQ(try_parse_retry_after("99999999999999999999999", now), seconds(3600));
  EXPECT_EQ(try_parse_retry_after("Sun, 06 Nov 1994 08:50:00 GMT", now), seconds(23));
  EXPECT_EQ(try_parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now), seconds(0));
  EXPECT_EQ(try_parse_retry_after("Wed, 21 Oct 2099 07:28:00 GMT", now), seconds(3600));
  EXPECT_EQ(try_parse_retry_after("soon", now), std::nullopt);
  EXPECT_EQ(try_parse_retry_after("-5", now), std::nullopt);
  EXPECT_EQ(try_parse_retry_after("", now), std::nullopt);
}

TEST(QuotaPause, WhatServersSay) {
  using std::chrono::seconds;
  const std::int64_t now = 1'700'000'000;
  struct Case {
    std::string quota, remaining, reset;
    std::optional<seconds> pause;
  };
  const Case cases[] = {
      {"", "", "", std::nullopt},
      {"", "0", "12", seconds(12)},          // Zenodo, some
      {"", "0", "1700000034", seconds(34)},  // GitHub
      {"", "0", "1600000000", seconds(0)},   // over
      {"", "1", "12", std::nullopt},
      {"", "0", "", std::nullopt},
      {"", "0", "soon", std::nullopt},
      {"", "", "12", std::nullopt},
      {"", "-1", "12", std::nullopt},
      {"", "0", "99999999999999999999", seconds(3600)},
      {"\"api\";r=0;t=55", "", "", seconds(55)},  // Hugging Face
      {"\"api\";r=4;t=55", "", "", std::nullopt},
      {"\"hour\"; r=0; t=600, \"minute\";r=0;t=12", "", "", seconds(600)},
      {"\"hour\";r=99;t=600, \"minute\";r=0;t=12", "", "", seconds(12)},
      {"limit=60, remaining=0, reset=7", "", "", seconds(7)},
      {"limit=60, remaining=5, reset=7", "", "", std::nullopt},
      {";;;,,==r=0;t", "", "", std::nullopt},
  };
  for (const Case& c : cases) {
    ResponseHead said = head(200);
    said.quota = c.quota;
    said.quota_remaining = c.remaining;
    said.quota_reset = c.reset;
    EXPECT_EQ(quota_pause(said, now), c.pause) << c.quota << ' ' << c.remaining << ' ' << c.reset;
  }
}

TEST(QuotaPause, IsHeardWhateverTheAnswer) {
  ResponseHead said = head(200, "", 10);
  said.quota = "\"api\";r=0;t=55";
  EXPECT_EQ(verdict(request(0, none), said).info.pause, std::chrono::seconds(55));
  for (const int status : {403, 429, 503}) {
    said.status = status;
    const auto refused = verdict(request(0, none), said).failure;
    EXPECT_EQ(refused.kind, FailureKind::network) << status;
    EXPECT_EQ(refused.retry_after, std::chrono::seconds(55)) << status;
  }
  said.retry_after = "3";
  EXPECT_EQ(verdict(request(0, none), said).failure.retry_after, std::chrono::seconds(3));
  said.quota = "\"api\";r=1;t=55";
  said.retry_after.clear();
  said.status = 403;
  EXPECT_EQ(verdict(request(0, none), said).failure.kind, FailureKind::access);
}

TEST(AnswerVerdict, WhoHasTooManyOfUsNeedNotSayForHowLong) {
  for (const int status : {429, 503}) {
    EXPECT_EQ(verdict(request(0, none), head(status)).failure.retry_after, std::chrono::seconds(0)) << status;
  }
  for (const int status : {404, 408, 500, 502, 504}) {
    EXPECT_EQ(verdict(request(0, none), head(status)).failure.retry_after, std::nullopt) << status;
  }
}

TEST(AnswerVerdict, RetryAfterReachesTheFailure) {
  for (const int status : {202, 403, 429, 503}) {
    ResponseHead said = head(status);
    said.retry_after = std::string(1, '7');
    const Failure failure = verdict(request(0, none), said).failure;
    EXPECT_EQ(failure.kind, FailureKind::network) << status;
    EXPECT_EQ(failure.retry_after, std::chrono::seconds(7)) << status;
    EXPECT_NE(failure.message.find("come back in 7"), std::string::npos) << failure.message;
  }
}

TEST(AnswerVerdict, WhatIsPackedForTheWay) {
  struct Case {
    const char* what;
    Coding coding;
    int status;
    std::string encoding;
    std::optional<FailureKind> refused;
    std::optional<std::uint64_t> size, wanted;
  };
  const Case cases[] = {
      {"who can do nothing with it", Coding::plain, 200, "gzip", FailureKind::unavailable, none, none},
      {"as it comes", Coding::any, 200, "gzip", std::nullopt, 100, 100},
      {"as it comes, a part", Coding::any, 206, "gzip", std::nullopt, 100, 10},
      {"unpacked: how long, nobody knows", Coding::unpacked, 200, "gzip", std::nullopt, none, none},
      {"unpacked, a part", Coding::unpacked, 206, "gzip", FailureKind::no_ranges, none, none},
      {"there is nothing to unpack", Coding::unpacked, 200, "", std::nullopt, 100, 100},
  };
  for (const Case& c : cases) {
    const bool part = c.status == 206;
    ReadRequest asked = request(0, part ? std::optional<std::uint64_t>(10) : none);
    asked.coding = c.coding;
    ResponseHead said = part ? head(206, "bytes 0-9/100", 10) : head(200, "", 100);
    said.content_encoding = c.encoding;
    const AnswerVerdict v = verdict(asked, said);
    EXPECT_EQ(v.action == Action::refuse ? std::optional(v.failure.kind) : std::nullopt, c.refused) << c.what;
    if (c.refused) continue;
    EXPECT_EQ(v.info.size_bytes, c.size) << c.what;
    EXPECT_EQ(v.wanted, c.wanted) << c.what;
    EXPECT_EQ(v.info.encoding, c.encoding) << c.what;
  }
  ResponseHead gunzipped = head(200);
  gunzipped.stored_encoding = "gzip";
  EXPECT_TRUE(verdict(request(0, none), gunzipped).info.unpacked_on_the_way);
  EXPECT_FALSE(verdict(request(0, none), head(200)).info.unpacked_on_the_way);
}

}  // namespace
}  // namespace sabath
