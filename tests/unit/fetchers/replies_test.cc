#include "ftp/replies.h"

#include <gtest/gtest.h>

namespace sabath {
namespace {

FtpFacts facts(std::initializer_list<std::string_view> lines) {
  FtpFacts found;
  for (const auto line : lines) note_reply(found, line);
  return found;
}

TEST(FtpReplies, SizeAndTime) {
  const FtpFacts found = facts({"220 ready", "213 20240131235959", "200 ok", "213 1000", "150 Opening (5 bytes)"});
  EXPECT_EQ(found.modified, "20240131235959");
  EXPECT_EQ(found.size_bytes, 1000u);
}

TEST(FtpReplies, WithoutTime) {
  const FtpFacts found = facts({"550 no MDTM", "213 12345678901234"});
  EXPECT_EQ(found.modified, "");
  EXPECT_EQ(found.size_bytes, 12345678901234u);
}

TEST(FtpReplies, NonsenseSaysNothing) {
  const FtpFacts found = facts({"213 many", "213 -1", "213 ", "2130 5", "213 99999999999999999999"});
  EXPECT_EQ(found.modified, "");
  EXPECT_EQ(found.size_bytes, std::nullopt);
}

}  // namespace
}  // namespace sabath
