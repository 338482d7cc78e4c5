#include "cli/frame/presentation.h"

#include <gtest/gtest.h>

#include "machine/filesystem_kind.h"

namespace sabath::cli {
namespace {

Presentation presentation_with(std::map<std::string, std::string> variables, std::string color, bool terminal) {
  Environment environment;
  environment.variables = std::move(variables);
  GlobalOptions globals;
  globals.color = std::move(color);
  return choose_presentation(globals, environment, terminal, terminal);
}

TEST(Presentation, ColoursOnlyWhereTheyAreWanted) {
  EXPECT_TRUE(presentation_with({{"TERM", "xterm"}}, "auto", true).color);
  EXPECT_FALSE(presentation_with({{"TERM", "xterm"}}, "auto", false).color);
  EXPECT_FALSE(presentation_with({{"TERM", "xterm"}, {"NO_COLOR", "1"}}, "auto", true).color);
  EXPECT_TRUE(presentation_with({{"TERM", "xterm"}, {"NO_COLOR", ""}}, "auto", true).color);
  EXPECT_FALSE(presentation_with({{"TERM", "dumb"}}, "auto", true).color);
  EXPECT_TRUE(presentation_with({{"NO_COLOR", "1"}}, "always", false).color_out);
  EXPECT_FALSE(presentation_with({{"TERM", "xterm"}}, "never", true).color);
}

TEST(Presentation, LiveOnlyOnATerminalThatRedraws) {
  EXPECT_TRUE(presentation_with({{"TERM", "xterm"}, {"NO_COLOR", "1"}}, "auto", true).live);
  EXPECT_FALSE(presentation_with({{"TERM", "dumb"}}, "auto", true).live);
  EXPECT_FALSE(presentation_with({}, "auto", true).live);
  EXPECT_FALSE(presentation_with({{"TERM", "xterm"}}, "auto", false).live);
}

TEST(Presentation, TheLocaleDecidesOnUtf8) {
  EXPECT_TRUE(presentation_with({{"LANG", "de_DE.UTF-8"}}, "auto", true).utf8);
  EXPECT_TRUE(presentation_with({{"LC_CTYPE", "C.utf8"}, {"LANG", "C"}}, "auto", true).utf8);
  EXPECT_FALSE(presentation_with({{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}}, "auto", true).utf8);
  EXPECT_FALSE(presentation_with({}, "auto", true).utf8);
}

TEST(Presentation, WidthFromColumns) {
  Environment environment;
  EXPECT_EQ(terminal_width(-1, environment), 80U);
  environment.variables["COLUMNS"] = "132";
  EXPECT_EQ(terminal_width(-1, environment), 132U);
  environment.variables["COLUMNS"] = "3";
  EXPECT_EQ(terminal_width(-1, environment), 20U);
  environment.variables["COLUMNS"] = "many";
  EXPECT_EQ(terminal_width(-1, environment), 80U);
}

TEST(FilesystemKind, KnowsTheSharedOnes) {
  EXPECT_EQ(filesystem_kind(0x0BD00BD0).name, "Lustre");
  EXPECT_TRUE(filesystem_kind(0x6969).shared);
  EXPECT_TRUE(filesystem_kind(0x01021994).in_memory);
  EXPECT_EQ(filesystem_kind(0xFFFFFFFFFF534D42).name, "SMB");  // sign-extended, as some machines give it
  EXPECT_TRUE(filesystem_kind(1).name.empty());
}

}  // namespace
}  // namespace sabath::cli
