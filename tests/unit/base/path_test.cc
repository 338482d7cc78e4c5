#include <gtest/gtest.h>

#include <string>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using namespace std::string_literals;

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(RelativePath, TakesWhatStaysInside) {
  for (const std::string& text :
       {"a"s, "a/b/c.txt"s, "..."s, "..a"s, "a../b"s, ".hidden"s, "with space"s, "h\xC3\xA9"s, "-rf"s, "a\\b"s,
        std::string(255, 'x'), repeat("d/", 127) + "f", "\xF0\x9F\x8C\x8C"s}) {
    ASSERT_TRUE(RelativePath::try_parse(text)) << text;
    EXPECT_EQ(RelativePath::parse(text).text(), text);
  }
}

TEST(RelativePath, SaysALimitWhereThatIsTheReason) {
  for (const auto& [text, why] : {std::pair{repeat("d/", 128) + "f", "more than 128 components"},
                                  {repeat("abcdefg/", 512) + "f", "longer than 4095 bytes"},
                                  {std::string(256, 'x'), "longer than 255 bytes"}}) {
    try {
      static_cast<void>(RelativePath::parse(text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(error.failure().message.find(why), std::string::npos) << error.failure().message;
      EXPECT_EQ(error.failure().message.find("unsafe"), std::string::npos);
      EXPECT_NE(error.failure().hint.find("tar"), std::string::npos) << error.failure().hint;
    }
  }
}

TEST(RelativePath, RefusesTheHostile) {
  for (const std::string& text : {""s,
                                  "/"s,
                                  "/etc/passwd"s,
                                  ".."s,
                                  "."s,
                                  "../x"s,
                                  "a/../b"s,
                                  "a/.."s,
                                  "a/./b"s,
                                  "./a"s,
                                  "a//b"s,
                                  "//a"s,
                                  "a/"s,
                                  "a\0b"s,
                                  "a\nb"s,
                                  "a\x1B[31m"s,
                                  "a\x7F"s,
                                  "a\xC2\x9B"s /* C1 */,
                                  "a\x80"s,
                                  "a\xC0\xAF"s /* overlong '/' */,
                                  "a\xED\xA0\x80"s /* surrogate */,
                                  "a\xF4\x90\x80\x80"s,
                                  std::string(256, 'x'),
                                  repeat("d/", 128) + "f",
                                  repeat(std::string(250, 'x') + "/", 16) + std::string(100, 'y')}) {
    EXPECT_FALSE(RelativePath::try_parse(text)) << testing::PrintToString(text);
    try {
      (void)RelativePath::parse(text);
      ADD_FAILURE() << testing::PrintToString(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid);
      EXPECT_EQ(error.failure().message.find('\x1B'), std::string::npos) << "a message is safe for a terminal";
      EXPECT_EQ(error.failure().message.find('\0'), std::string::npos);
    }
  }
}

TEST(RelativePath, KnowsItsParts) {
  const RelativePath path = RelativePath::parse("a/b/c");
  EXPECT_EQ(path.name(), "c");
  EXPECT_EQ(path.parent(), "a/b");
  EXPECT_EQ(RelativePath::parse("a").parent(), "");
  EXPECT_EQ((path / RelativePath::parse("d")).text(), "a/b/c/d");
  const RelativePath deep = RelativePath::parse(repeat("d/", 100) + "d");
  EXPECT_THROW((void)(deep / deep), Error);
}

struct LinkCase {
  const char* link;
  const char* target;
  bool inside;
};

TEST(Symlink, IsJudgedByItsText) {
  const LinkCase table[] = {
      {"l", "f", true},
      {"l", "d/f", true},
      {"l", "./d//f", true},
      {"d/l", "../f", true},
      {"a/b/l", "../../f", true},
      {"d/l", "..", true},
      {"l", "..", false},
      {"l", "../f", false},
      {"d/l", "../../f", false},
      {"a/b/l", "../../../f", false},
      {"l", "/etc/passwd", false},
      {"l", "", false},
      // Behind a name, ".." climbs from the place to which that name leads, which text cannot tell.
      {"l", "a/..", false},
      {"l", "a/../b", false},
      {"d/l", "a/../../x", false},
      {"a/b/c/l", "x/../../y", false},
      {"l", "a/../../x", false},
      {"l", "./../x", false},
      {"d/l", "./../x", true},
  };
  for (const LinkCase& c : table) {
    EXPECT_EQ(symlink_stays_inside(RelativePath::parse(c.link), c.target), c.inside) << c.link << " -> " << c.target;
  }
  EXPECT_FALSE(symlink_stays_inside(RelativePath::parse("l"), "a\0b"s));
  EXPECT_FALSE(symlink_stays_inside(RelativePath::parse("l"), std::string(256, 'x')));
  EXPECT_FALSE(symlink_stays_inside(RelativePath::parse("l"), repeat("d/", 3000)));
}

TEST(Printable, EscapesAndCuts) {
  EXPECT_EQ(printable("plain \xC3\xA9"), "plain \xC3\xA9");
  EXPECT_EQ(printable("a\x1B[0m\n"), "a\\x1b[0m\\x0a");
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(printable("\xFF\xC2\x9B"), "\\xff\\xc2\\x9b");
  EXPECT_EQ(printable("a\u00A0b\u2003c\u3000d\u2800"), "a\\u00a0b\\u2003c\\u3000d\\u2800");
  EXPECT_EQ(printable("a\u202Eb\u200Bc\uFEFF\U000E0041\u2028"), "a\\u202eb\\u200bc\\ufeff\\U000e0041\\u2028");
  EXPECT_EQ(printable("\u0627\u05D0\u0301\u65E5\U0001F600"), "\u0627\u05D0\u0301\u65E5\U0001F600");
  EXPECT_EQ(printable("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(printable("abcdefghijk", 10), "abcdefg...");
  EXPECT_EQ(printable("\x01\x01\x01\x01", 10), "\\x01...");
  EXPECT_EQ(printable("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 7), "\xC3\xA9\xC3\xA9...");
  EXPECT_EQ(printable("abc", 0), "");
  EXPECT_LE(printable(std::string(100000, '\x02')).size(), 200u);
}

}  // namespace
}  // namespace sabath
