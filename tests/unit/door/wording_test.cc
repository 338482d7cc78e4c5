#include "door/wording.h"

#include <gtest/gtest.h>

namespace sabath {
namespace {

TEST(Wording, OptionsAreKeys) {
  EXPECT_EQ(with_keys("--sample and --select fetch parts; --keep-archives means the whole"),
            "\"sample\" and \"select\" fetch parts; \"keep_archives\" means the whole");
  EXPECT_EQ(with_keys("run it again (--refresh)"), "run it again (\"refresh\")");
  EXPECT_EQ(with_keys("--store"), "\"store\"");
}

TEST(Wording, OtherDashesStay) {
  for (const char* text : {"", "--", "-d", "a--b", "x -- y", "cannot read a--b.bin", "---x", "1 -- 2 --"})
    EXPECT_EQ(with_keys(text), text);
}

}  // namespace
}  // namespace sabath
