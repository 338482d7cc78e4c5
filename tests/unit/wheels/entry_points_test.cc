#include "wheels/entry_points.h"

#include <gtest/gtest.h>

#include <functional>

#include "sabath/error.h"

namespace sabath {
namespace {

std::string why_no_entry_points(std::string_view text) {
  try {
    static_cast<void>(parse_entry_points(text, "flute 1.2: entry_points.txt"));
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    return error.what();
  }
  return "";
}

TEST(EntryPoints, AreThoseOfProgramsInTheOrderOfTheirNames) {
  const auto points = parse_entry_points(
      "# a comment\r\n[console_scripts]\r\nz.y-x = flute.note : Stand.play [extra, more]\n; another\n"
      "[gui_scripts]\na = flute:main\n[flask.commands]\nanything / at : all\n  of it\n",
      "x");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].name, "a");
  EXPECT_EQ(points[1].name, "z.y-x");
  EXPECT_EQ(points[1].module, "flute.note");
  EXPECT_EQ(points[1].attributes, "Stand.play");
  EXPECT_TRUE(parse_entry_points("", "x").empty());
}

TEST(EntryPoints, ThatAreNoNameAndNoObjectAreRefused) {
  const std::string section = "[console_scripts]\n";
  for (const std::string name : {"../x", "a/b", "/x", "-x", ".x", "", "a b", "a\tb", "\xc3\xa9", "$x", "a\x01"})
    EXPECT_NE(why_no_entry_points(section + name + " = flute:main\n"), "") << name;
  for (const std::string reference : {"flute", "flute:", ":main", "flute:main()", "flute:a;b", "flute.:a", "flute..x:a",
                                      "1flute:a", "flute:a:b", "flute:a b", "flute:\xc3\xa9", "flute:a#b", "flute:a[x"})
    EXPECT_NE(why_no_entry_points(section + "x = " + reference + "\n"), "") << reference;
  EXPECT_NE(why_no_entry_points(section + "x = flute:" + std::string(2000, 'a') + "\n"), "");
  EXPECT_NE(why_no_entry_points(section + std::string(300, 'x') + " = flute:a\n"), "");
}

TEST(EntryPoints, ThatAreNoListAreRefusedByTheirLine) {
  EXPECT_EQ(why_no_entry_points("x = flute:main\n"), "flute 1.2: entry_points.txt:1 has text before its first section");
  EXPECT_NE(why_no_entry_points("[console_scripts\nx = flute:main\n").find(":1 has a section without an end"),
            std::string::npos);
  EXPECT_NE(why_no_entry_points("[console_scripts]\nx\n").find(":2 is no entry point"), std::string::npos);
  EXPECT_NE(why_no_entry_points("[console_scripts]\nx = a:b\n more = c:d\n").find(":3 has an entry point of several"),
            std::string::npos);
  EXPECT_NE(why_no_entry_points("[console_scripts]\nx = a:b\n[gui_scripts]\nx = a:b\n").find("x twice"),
            std::string::npos);
}

TEST(EntryPoints, BecomeAProgramThatFindsItsInterpreter) {
  const std::string script = entry_point_script({"stand", "flute.note", "Stand.play"});
  EXPECT_EQ(script.find("#!/bin/sh\n'''exec' "), 0U);
  EXPECT_NE(script.find("from flute.note import Stand\n"), std::string::npos);
  EXPECT_NE(script.find("sys.exit(Stand.play())\n"), std::string::npos);
}

}  // namespace
}  // namespace sabath
