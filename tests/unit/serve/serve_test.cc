// The pure parts of `sabath serve`: what may be asked for, which part answers, and the line that is logged.

#include <gtest/gtest.h>

#include "sabath/error.h"
#include "serve/access_log.h"
#include "serve/reply.h"
#include "serve/target.h"

namespace sabath {
namespace {

const std::string hash(64, 'a');

TEST(Target, Names) {
  EXPECT_EQ(try_parse_target("/v1/")->kind, Target::Kind::about);
  const auto object = try_parse_target("/v1/objects/" + hash + ".4194305");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->digest.size_bytes, 4194305u);
  EXPECT_EQ(object->digest.hash.hex(), hash);
  EXPECT_EQ(try_parse_target("/v1/manifests/" + hash)->root.hex(), hash);
  EXPECT_EQ(try_parse_target("/v1/checksums/md5/" + hash.substr(0, 32))->algorithm, "md5");
}

TEST(Target, OneSpellingOnly) {
  for (const std::string& path :
       {std::string("/"), std::string(), std::string("/v1/objects"), "/v1/objects/" + hash, "/v1/objects/" + hash + ".",
        "/v1/objects/" + hash + ".01", "/v1/objects/" + hash + ".+1", "/v1/objects/" + hash + ".18446744073709551616",
        "/v1/objects/" + std::string(64, 'A') + ".1", "/v1/objects/sha256:" + hash + ".1",
        "/v1/objects/" + hash + ".1/", "/v1/objects//" + hash + ".1", "/v1/manifests/" + hash.substr(1),
        "/v1/manifests/../" + hash, "/v2/manifests/" + hash, "/v1/checksums/sha512/" + hash,
        "/v1/checksums/sha1/" + hash, "/v1/checksums/" + hash, std::string("/v1/objects/\0", 13)}) {
    EXPECT_FALSE(try_parse_target(path)) << path;
  }
}

TEST(Reply, Ranges) {
  struct Case {
    std::string_view range;
    std::uint64_t size;
    Reply reply;
  };
  const Case cases[] = {{"", 10, {200, 0, 10}},
                        {"bytes=0-", 10, {206, 0, 10}},
                        {"bytes=0-9", 10, {206, 0, 10}},
                        {"bytes=0-99999999999999999999999", 10, {206, 0, 10}},
                        {"bytes=9-9", 10, {206, 9, 1}},
                        {"bytes=10-", 10, {416, 0, 0}},
                        {"bytes=99999999999999999999999-", 10, {416, 0, 0}},
                        {"bytes=-3", 10, {206, 7, 3}},
                        {"bytes=-30", 10, {206, 0, 10}},
                        {"bytes=-0", 10, {416, 0, 0}},
                        {"bytes=0-", 0, {416, 0, 0}},
                        {"bytes=-1", 0, {416, 0, 0}},
                        {"bytes=5-2", 10, {200, 0, 10}},
                        {"bytes=-", 10, {200, 0, 10}},
                        {"bytes=1-2,4-5", 10, {200, 0, 10}},
                        {"bytes=a-b", 10, {200, 0, 10}},
                        {"bytes=+1-2", 10, {200, 0, 10}},
                        {"chunks=1-2", 10, {200, 0, 10}},
                        {"bytes 1-2", 10, {200, 0, 10}}};
  for (const Case& c : cases) EXPECT_EQ(reply_to({c.range, {}, {}, {}}, c.size, "\"e\""), c.reply) << c.range;
  EXPECT_EQ(content_range({206, 7, 3}, 10), "bytes 7-9/10");
  EXPECT_EQ(content_range({416, 0, 0}, 10), "bytes */10");
}

TEST(Reply, Conditions) {
  const std::string_view etag = "\"e\"";
  const auto status = [&](const Conditions& conditions) { return reply_to(conditions, 10, etag).status; };
  EXPECT_EQ(status({{}, "\"e\"", {}, {}}), 200);
  EXPECT_EQ(status({{}, "\"x\", \"e\"", {}, {}}), 200);
  EXPECT_EQ(status({{}, "*", {}, {}}), 200);
  EXPECT_EQ(status({{}, "\"x\"", {}, {}}), 412);
  EXPECT_EQ(status({{}, "W/\"e\"", {}, {}}), 412);
  EXPECT_EQ(status({{}, {}, "\"e\"", {}}), 304);
  EXPECT_EQ(status({{}, {}, "W/\"e\"", {}}), 304) << "it compares weakly";
  EXPECT_EQ(status({{}, {}, "\"x\", W/\"e\"", {}}), 304);
  EXPECT_EQ(status({{}, {}, "\"x\"", {}}), 200);
  EXPECT_EQ(status({"bytes=0-1", {}, {}, "W/\"e\""}), 200) << "and this strongly";
  EXPECT_EQ(status({"bytes=0-1", {}, {}, "\"e\""}), 206);
  EXPECT_EQ(status({"bytes=0-1", {}, {}, "\"x\""}), 200);
}

TEST(RequestTarget, APathOrAWholeAddress) {
  const auto split = [](std::string_view text) {
    const RequestTarget target = split_target(text);
    return std::pair(std::string(target.authority), std::string(target.path));
  };
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(split("/v1/"), Parts("", "/v1/"));
  EXPECT_EQ(split("http://h:1/v1/"), Parts("h:1", "/v1/"));
  EXPECT_EQ(split("HTTPS://h"), Parts("h", "/"));
  EXPECT_EQ(split("http://h?x"), Parts("h", "/"));
  EXPECT_EQ(split("ftp://h/v1/"), Parts("", "ftp://h/v1/"));
  EXPECT_EQ(split("*"), Parts("", "*"));
}

TEST(AccessLog, ALineCannotBeForged) {
  AccessEntry entry{.time_ms = 1'000'123,
                    .client = "127.0.0.1:1",
                    .method = "GET",
                    .path = "/a b\n\x1b[31m 200 1 0.000 ok",
                    .status = 404,
                    .bytes = 5,
                    .ending = AccessEntry::Ending::cut,
                    .seconds = 0.25};
  const std::string line = to_line(entry);
  EXPECT_EQ(line.find_first_of("\n\x1b"), line.npos);
  EXPECT_EQ(std::count(line.begin(), line.end(), ' '), 7);
  EXPECT_TRUE(line.starts_with("1970-01-01T00:16:40.123Z 127.0.0.1:1 GET /a%20b")) << line;
  EXPECT_TRUE(line.ends_with(" 404 5 0.250 cut")) << line;
  entry.path.clear();
  EXPECT_NE(to_line(entry).find(" - 404"), std::string::npos);
  const AccessEntry silent{.time_ms = 0,
                           .client = "[::1]:2",
                           .method = {},
                           .path = {},
                           .ending = AccessEntry::Ending::silent,
                           .seconds = 60};
  EXPECT_EQ(to_line(silent), "1970-01-01T00:00:00.000Z [::1]:2 - - - 0 60.000 silent");
}

}  // namespace
}  // namespace sabath
