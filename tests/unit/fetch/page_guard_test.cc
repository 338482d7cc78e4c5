// A web page is refused if data was asked for; data is not, under any content type.
#include "fetch/hosts/page_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sabath {
namespace {

using namespace std::string_literals;

struct Case {
  const char* what;
  const char* url;
  const char* type;
  std::string body;
  bool refused;
};

std::optional<Failure> refuse(const Case& c) {
  ContentInfo info;
  info.content_type = c.type;
  return refuse_page(Url::parse(c.url), info, std::as_bytes(std::span(c.body)));
}

TEST(PageGuard, Table) {
  const char* data = "https://a.example/f.bin";
  const std::vector<Case> cases = {
      {"a declared page", data, "text/html", "<!DOCTYPE html><html>", true},
      {"a page that calls itself data", data, "application/octet-stream", "<!doctype HTML>\n<html>", true},
      {"without a doctype", data, "", "<HTML lang=en><head>", true},
      {"only a head", data, "", "<head><title>x</title>", true},
      {"after blank lines", data, "", "\r\n\n  \t<html>", true},
      {"after a byte order mark", data, "", "\xEF\xBB\xBF<!doctype html>", true},
      {"after a byte order mark and blanks", data, "", "\xEF\xBB\xBF\n <html>", true},
      {"declared, begins with a comment", data, "text/html", "<!-- portal --><html>", true},
      {"declared xhtml", data, "application/xhtml+xml", "<?xml version=\"1.0\"?><html>", true},
      {"declared, but gzip", data, "text/html", "\x1f\x8b\x08\0\0\0\0\0\0\x03"s, false},
      {"declared, but HDF5", data, "text/html", "\x89HDF\r\n\x1a\n\0\0\0\0"s, false},
      {"declared, but bytes without a NUL", data, "text/html", "\x89HDF\r\n\x1a\n\x93<a\xe1\x07<b>\n", false},
      {"declared, in ISO-2022", data, "text/html", "\x1b$B%5%V\x1b(B <b>", true},
      {"declared, in UTF-16", data, "text/html", "\xFF\xFE<\0h\0t\0m\0l\0>\0"s, true},
      {"declared, but rows", data, "text/html", "a,b\n1,2\n3,4\n", false},
      {"declared, but rows of comparisons", data, "text/html", "a < b\n1 <2\n3<=4\n", false},
      {"declared, a tag behind other text", data, "text/html", "Sorry.\nPlease <a href=x>log in</a>\n", true},
      {"declared, what a script says when it fails", data, "text/html", "Access denied\n", true},
      {"plain data", data, "application/octet-stream", "\0\1\2\3"s, false},
      {"no type, plain text", data, "", "col1,col2\n1,2\n", false},
      {"text that speaks of html", data, "text/plain", "the <html> tag", false},
      {"xml data", data, "application/xml", "<?xml version=\"1.0\"?><rows/>", false},
      {"an empty body", data, "text/html", "", false},
      {"a file that is a page", "https://a.example/doc/index.html", "text/html", "<!doctype html>", false},
      {"in capitals", "https://a.example/INDEX.HTM", "text/html", "<html>", false},
      {"xhtml by name", "https://a.example/a.xhtml", "application/xhtml+xml", "<html>", false},
      {"a page's name in the query only", "https://a.example/f?x=.html", "text/html", "<html>", true},
  };
  for (const auto& c : cases) {
    const auto failure = refuse(c);
    EXPECT_EQ(failure.has_value(), c.refused) << c.what;
    if (failure) {
      EXPECT_EQ(failure->kind, FailureKind::access) << c.what;
    }
  }
}

TEST(PageGuard, HintsSayWhatToDo) {
  const auto blob = refuse({"", "https://git.example/o/r/blob/main/w.bin", "text/html", "<html>", true});
  ASSERT_TRUE(blob);
  EXPECT_NE(blob->hint.find("/raw/"), std::string::npos);

  const auto login = refuse({"", "https://a.example/f?token=abc", "text/html", "<html>Please Sign In</html>", true});
  ASSERT_TRUE(login);
  EXPECT_NE(login->hint.find("login"), std::string::npos);
  EXPECT_EQ(login->message.find("token"), std::string::npos) << "a query may hold a secret";

  const auto portal = refuse({"", "https://a.example/f", "text/html", "<html>Welcome to our network</html>", true});
  ASSERT_TRUE(portal);
  EXPECT_NE(portal->hint.find("browser"), std::string::npos);
}

TEST(PageGuard, HowToAskWherePackedBytesAreNotTheFile) {
  const Url named = Url::parse("https://a.example/t.csv.gz"), plain = Url::parse("https://a.example/t.csv");
  ContentInfo packed;
  packed.encoding = "gzip";
  EXPECT_FALSE(refuse_packed(named, packed)) << "its name says so as well";
  ASSERT_TRUE(refuse_packed(plain, packed));
  EXPECT_EQ(refuse_packed(plain, packed)->kind, FailureKind::unavailable);
  EXPECT_FALSE(refuse_packed(plain, ContentInfo{}));
  EXPECT_EQ(other_coding(packed, Coding::any), Coding::unpacked);
  EXPECT_EQ(other_coding(packed, Coding::unpacked), std::nullopt);
  EXPECT_EQ(other_coding(ContentInfo{}, Coding::any), std::nullopt);
  ContentInfo unpacked;
  unpacked.unpacked_on_the_way = true;
  EXPECT_EQ(other_coding(unpacked, Coding::any), Coding::stored);
  EXPECT_TRUE(is_coded(named, unpacked, Coding::any, 5));
  EXPECT_FALSE(is_coded(named, packed, Coding::any, 5)) << "perhaps they are the stored ones: no length says otherwise";
  EXPECT_TRUE(is_coded(plain, packed, Coding::any, 5));
  packed.size_bytes = 5;
  EXPECT_FALSE(is_coded(plain, packed, Coding::any, 5));
  EXPECT_TRUE(is_coded(named, packed, Coding::any, 6));
  EXPECT_FALSE(is_coded(named, packed, Coding::unpacked, 6));
  EXPECT_NE(how_sent(packed, Coding::any).find("Content-Encoding gzip"), std::string::npos);
  EXPECT_EQ(how_sent(ContentInfo{}, Coding::any), "");
}

}  // namespace
}  // namespace sabath
