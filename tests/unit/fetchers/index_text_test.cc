// XML, patterns and metalinks: what listings are made of.
#include <gtest/gtest.h>

#include "base/glob.h"
#include "base/metalink.h"
#include "base/percent.h"
#include "base/xml.h"
#include "sabath/error.h"

namespace sabath {
namespace {

TEST(Xml, ReadsAttributes) {
  const XmlElement root =
      parse_xml("\xEF\xBB\xBF<?xml version='1.0'?><a:r x='1 > 2' b:y=\"&lt;&#x41;\" ><c z = 'q'/></a:r>");
  EXPECT_EQ(root.name, "r");
  EXPECT_EQ(root.attribute("x"), "1 > 2");
  EXPECT_EQ(root.attribute("b:y"), "<A");
  EXPECT_EQ(root.children.at(0).attribute("z"), "q");
  EXPECT_EQ(root.attribute("none"), "");
}

TEST(Xml, RefusesWhatItDoesNotUnderstand) {
  std::string wide = "<a>";
  for (int i = 0; i < 20; ++i) wide += "<b/>";
  for (const std::string& text :
       {std::string("<a x>"), std::string("<a x=1/>"), std::string("<a x='1' x='2'/>"), std::string("<a x='<'/>"),
        std::string("<a x='&b;'/>"), std::string("<!DOCTYPE a><a/>"), std::string("<a"), std::string("<a x='"),
        wide + "</a>", std::string("< a/>"), std::string("<a//>")}) {
    EXPECT_THROW((void)parse_xml(text, {1000, 16, 20}), Error) << text;
  }
  EXPECT_THROW((void)parse_xml(std::string(2000, ' '), {1000, 16, 20}), Error);
}

TEST(Glob, KnowsWhereItMayMatch) {
  const struct {
    const char *pattern, *directory;
    bool may;
  } cases[] = {{"*.h5", "", true},    {"*.h5", "a", false},    {"a/*", "a", true},   {"a/*", "b", false},
               {"**", "a/b", true},   {"a/**/x", "a/b", true}, {"a/**", "b", false}, {"a/b/c", "a/b", true},
               {"a/b", "a/b", false}, {"[ab]/?", "b", true}};
  for (const auto& c : cases)
    EXPECT_EQ(glob_may_match_below(c.pattern, c.directory), c.may) << c.pattern << c.directory;
}

TEST(Percent, EncodesWhatAUrlCannotHold) {
  EXPECT_EQ(percent_encode_path("a b/c%#?\xC3\xBC~"), "a%20b/c%25%23%3F%C3%BC~");
  EXPECT_EQ(percent_encode("a/b"), "a%2Fb");
}

TEST(Metalink, IsReadAsItIsWritten) {
  const std::vector<ListedFile> files = {{RelativePath::parse("d/a&b <1>"),
                                          {Url::parse("https://a/x?y=1&z=2"), Url::parse("ftp://b/x")},
                                          7,
                                          {.md5 = std::string(32, '0'), .sha1 = "", .sha256 = std::string(64, 'f')}},
                                         {RelativePath::parse("plain"), {Url::parse("http://c/")}, std::nullopt, {}}};
  const std::string text = write_metalink(files, "t/1 & 2");
  EXPECT_TRUE(is_metalink(text));
  const auto again = parse_metalink(text, Url::parse("https://a/m"));
  ASSERT_EQ(again.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again[i].path, files[i].path);
    EXPECT_EQ(again[i].urls, files[i].urls);
    EXPECT_EQ(again[i].size_bytes, files[i].size_bytes);
    EXPECT_EQ(again[i].checksum, files[i].checksum);
  }
  for (const char* bad :
       {"<metalink", "<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file>", "<metalink>&#0;</metalink>"}) {
    try {
      (void)parse_metalink(bad, Url::parse("https://a/m?secret"));
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid) << bad;
      EXPECT_NE(error.failure().message.find("https://a/m is refused"), std::string::npos) << error.what();
    }
  }
  EXPECT_FALSE(is_metalink("a/list\nof <metalink\n"));
  EXPECT_FALSE(is_metalink("<html></html>"));
  EXPECT_THROW((void)write_metalink({{RelativePath::parse("x"), {}, 1, {}}}, "t"), Error);
}

}  // namespace
}  // namespace sabath
