#include "cli/show/render.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sabath::cli {
namespace {

TEST(Render, AFailureIsAMessageAndAHint) {
  const Failure failure{FailureKind::network, "cannot read https://a.example/x: reset", "try again", {}};
  EXPECT_EQ(render_failure(failure, false, false),
            "error: cannot read https://a.example/x: reset\n  hint: try again\n");
  EXPECT_EQ(render_failure(failure, true, false),
            "error: cannot read https://a.example/x: reset\n  hint: try again\n  kind: network (exit 6)\n");
  EXPECT_EQ(render_failure({FailureKind::usage, "no", "", {}}, false, true), "\x1b[31merror:\x1b[0m no\n");
}

TEST(Render, ControlBytesNeverReachTheTerminal) {
  const Failure failure{FailureKind::invalid,
                        "bad \x1b]0;title\x07 name\nline",
                        "\x9b"
                        "2J",
                        {}};
  const std::string text = render_failure(failure, false, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
}

TEST(Render, TheRecordOfAFailure) {
  EXPECT_EQ(failure_record({FailureKind::space, "full", "", {}}, 5).dump(),
            R"({"schema":1,"error":{"kind":"space","message":"full","hint":null},"exit":5})");
}

TEST(Render, ATableIsAligned) {
  Table table({"NAME", "SIZE", "TITLE"});
  EXPECT_TRUE(table.empty());
  table.add({"näme", "5 B", "a"});
  table.add({"longer", "10.0 GB", ""});
  EXPECT_EQ(table.text({1}, 0), "NAME       SIZE  TITLE\nnäme        5 B  a\nlonger  10.0 GB\n");
  EXPECT_EQ(table.text({1}, 9), "NAME\nnäme\nlonger  1\n");
}

TEST(Render, ShortenKeepsWholeCharacters) {
  EXPECT_EQ(shorten("short", 5, true), "short");
  EXPECT_EQ(shorten("äöüäöü", 4, true), "äöü…");
  EXPECT_EQ(shorten("abcdefghij", 7, false), "abcd...");
  EXPECT_EQ(shorten("https://host/long/file.tar", 15, false, true), "https:...le.tar");
  EXPECT_EQ(shorten("abc", 2, false), "ab");
  EXPECT_EQ(shorten("abc", 0, true), "");
  for (std::size_t width = 0; width < 30; ++width) {
    EXPECT_LE(display_width(shorten("https://host/ä/long/file.tar", width, width % 2 == 0, true)), width);
  }
}

TEST(Render, WrapBreaksAtSpaces) {
  EXPECT_EQ(wrap("one two three", 9, "  "), "  one two\n  three\n");
  EXPECT_EQ(wrap("a\nb", 80, ""), "a\nb\n");
  EXPECT_EQ(wrap("unbreakable", 3, ""), "unbreakable\n");
  EXPECT_EQ(wrap("", 10, "  "), "");
}

}  // namespace
}  // namespace sabath::cli
