// The signer against Amazon's published examples, and against vectors made with Python's hmac (sigv4_vectors.py).
#include "s3/sigv4.h"

#include <gtest/gtest.h>

#include <ctime>

namespace sabath::s3 {
namespace {

std::time_t time_of(int year, int month, int day, int hour, int minute) {
  std::tm time{};
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  time.tm_mday = day;
  time.tm_hour = hour;
  time.tm_min = minute;
  return ::timegm(&time);
}

std::string signature(const Unsigned& request, const Keys& keys, std::time_t now) {
  const std::string line = sign(request, keys, now).back();
  return line.substr(line.rfind('=') + 1);
}

const Keys s3_keys{"AKIAIOSFODNN7EXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), Secret()};
const Keys suite_keys{"AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), Secret()};

// "Examples: Signature Calculations" of the Amazon S3 API reference.
TEST(SigV4, ExamplesOfTheS3Reference) {
  const std::time_t now = time_of(2013, 5, 24, 0, 0);
  const std::string host = "examplebucket.s3.amazonaws.com", region = "us-east-1";
  EXPECT_EQ(
      signature({.host = host, .path = "/test.txt", .query = {}, .headers = {{"range", "bytes=0-9"}}, .region = region},
                s3_keys, now),
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(signature({.host = host, .path = "/", .query = {{"lifecycle", ""}}, .headers = {}, .region = region},
                      s3_keys, now),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(
      signature(
          {.host = host, .path = "/", .query = {{"prefix", "J"}, {"max-keys", "2"}}, .headers = {}, .region = region},
          s3_keys, now),
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

// get-vanilla and get-vanilla-query-order-key-case of the Signature Version 4 test suite.
TEST(SigV4, CasesOfTheTestSuite) {
  const std::time_t now = time_of(2015, 8, 30, 12, 36);
  Unsigned request{.host = "example.amazonaws.com",
                   .path = "/",
                   .query = {},
                   .headers = {},
                   .region = "us-east-1",
                   .service = "service",
                   .payload_hash = false};
  EXPECT_EQ(signature(request, suite_keys, now), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  request.query = {{"Param2", "value2"}, {"Param1", "value1"}};
  EXPECT_EQ(signature(request, suite_keys, now), "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

struct Vector {
  const char* path;
  Fields query;
  const char* token;
  const char* signature;
};

TEST(SigV4, VectorsMadeElsewhere) {
  const Vector vectors[] = {
#include "sigv4_vectors.inc"
  };
  for (const Vector& vector : vectors) {
    const Keys keys{"test:tester", Secret("testing"), Secret(vector.token)};
    const Unsigned request{
        .host = "127.0.0.1:8085", .path = vector.path, .query = vector.query, .headers = {}, .region = "eu-west-1"};
    EXPECT_EQ(signature(request, keys, time_of(2026, 2, 3, 4, 5)), vector.signature) << vector.path;
  }
}

TEST(SigV4, WhatIsSent) {
  const Unsigned request{.host = "h", .path = "/b/k", .query = {}, .headers = {}, .region = "r"};
  const auto lines = sign(request, {"id", Secret("secret"), Secret("token")}, 0);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(lines[1], "x-amz-date: 19700101T000000Z");
  EXPECT_EQ(lines[2], "x-amz-security-token: token");
  EXPECT_TRUE(
      lines[3].starts_with("Authorization: AWS4-HMAC-SHA256 Credential=id/19700101/r/s3/aws4_request, "
                           "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature="));
  for (const std::string& line : lines) EXPECT_EQ(line.find("secret"), std::string::npos);
  EXPECT_TRUE(sign(request, {}, 0).empty());
}

TEST(SigV4, Encoding) {
  EXPECT_EQ(uri_encode("a b+c%d/é~(1)*", true), "a%20b%2Bc%25d/%C3%A9~%281%29%2A");
  EXPECT_EQ(uri_encode("/", false), "%2F");
  EXPECT_EQ(canonical_query({{"prefix", "a=b/"}, {"list-type", "2"}, {"location", ""}}),
            "list-type=2&location=&prefix=a%3Db%2F");
}

}  // namespace
}  // namespace sabath::s3
