#include "recipe/command_template.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

using Kind = TemplatePiece::Kind;
using Pieces = std::vector<TemplatePiece>;

TEST(CommandTemplate, KnowsEveryPlaceholder) {
  EXPECT_EQ(parse_template("{source}/x"), (Pieces{{Kind::source, ""}, {Kind::literal, "/x"}}));
  EXPECT_EQ(parse_template("a{dataset}b"), (Pieces{{Kind::literal, "a"}, {Kind::dataset, ""}, {Kind::literal, "b"}}));
  EXPECT_EQ(parse_template("{dataset.main}"), (Pieces{{Kind::dataset_fragment, "main"}}));
  EXPECT_EQ(parse_template("{dataset.main.dir}"), (Pieces{{Kind::dataset_fragment_directory, "main"}}));
  EXPECT_EQ(parse_template("{dataset.a-b.c+1}"), (Pieces{{Kind::dataset_fragment, "a-b.c+1"}}));
  EXPECT_EQ(parse_template("{config.lr}{nodes}{ranks}"),
            (Pieces{{Kind::config, "lr"}, {Kind::nodes, ""}, {Kind::ranks, ""}}));
}

TEST(CommandTemplate, LeavesOtherBracesAlone) {
  for (const char* text : {"", "plain", "{", "}", "{}", "{ source }", "a{1..3}", "{a,b}", "awk '{print $1}'",
                           "${HOME}/x", "${source}", "f() { a; }", "{\"k\": 1}", "{source"}) {
    const Pieces pieces = parse_template(text);
    if (*text == '\0') {
      EXPECT_TRUE(pieces.empty());
    } else {
      EXPECT_EQ(pieces, (Pieces{{Kind::literal, text}})) << text;
    }
  }
  EXPECT_EQ(parse_template("x{{name}}y"), (Pieces{{Kind::literal, "x{name}y"}}));
  EXPECT_EQ(parse_template("{{source}"), (Pieces{{Kind::literal, "{"}, {Kind::source, ""}}));
}

TEST(CommandTemplate, RefusesTheUnknown) {
  for (const char* text :
       {"{sources}", "{dataset.}", "{config}", "{config.}", "{Source}", "{print}", "x{a.b}", "{{a}", "$${a} {b}"}) {
    EXPECT_THROW((void)parse_template(text), Error) << text;
  }
}

}  // namespace
}  // namespace sabath
