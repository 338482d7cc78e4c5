#include <gtest/gtest.h>

#include <string>

#include "sabath/error.h"
#include "sabath/url.h"

namespace sabath {
namespace {

using namespace std::string_literals;

TEST(Url, Splits) {
  const Url url = Url::parse("HTTPS://Data.Example.ORG:8443/a%20b/f.tar?sig=secret#part");
  EXPECT_EQ(url.scheme(), "https");
  EXPECT_EQ(url.host(), "data.example.org");
  EXPECT_EQ(url.port(), 8443);
  EXPECT_EQ(url.path(), "/a%20b/f.tar");
  EXPECT_EQ(url.query(), "sig=secret");
  EXPECT_EQ(url.file_name(), "f.tar");
  EXPECT_EQ(url.display(), "HTTPS://Data.Example.ORG:8443/a%20b/f.tar") << "what is shown holds no signature";
  EXPECT_EQ(url.origin(), "https://data.example.org:8443");
}

TEST(Url, Origins) {
  EXPECT_EQ(Url::parse("https://a:443/x").origin(), "https://a");
  EXPECT_EQ(Url::parse("http://a:80").origin(), "http://a");
  EXPECT_EQ(Url::parse("http://a:443").origin(), "http://a:443");
  EXPECT_EQ(Url::parse("http://[::1]:8080/x").origin(), "http://[::1]:8080");
  EXPECT_EQ(Url::parse("http://[::1]/x").port(), std::nullopt);
  EXPECT_EQ(Url::parse("file:///x").origin(), "file://");
}

TEST(Url, FileNames) {
  EXPECT_EQ(Url::parse("http://a/b%20c.bin").file_name(), "b c.bin");
  EXPECT_EQ(Url::parse("http://a/d/").file_name(), "");
  EXPECT_EQ(Url::parse("http://a").file_name(), "");
  EXPECT_EQ(Url::parse("http://a/%2e%2e").file_name(), "..") << "may be unsafe: the caller checks";
  EXPECT_EQ(Url::parse("http://a/x?file=y/z").file_name(), "x");
}

TEST(Url, TakesTheUnusual) {
  for (const char* text : {"s3://bucket/a/prefix/", "globus://0b226e2c-4de0-11ea-971a-021304b0cca7/All-Hist/",
                           "file:///a", "file:/a", "g:h", "http://a_b.example/", "http://a:/", "http://a/\xC3\xA9",
                           "http://a/x@y:z", "http://a?q=user@host", "http://a/?q=%zz"}) {
    EXPECT_TRUE(Url::try_parse(text)) << text;
  }
}

TEST(Url, RefusesTheMalformed) {
  for (const std::string& text : {""s,
                                  "/a"s,
                                  "a"s,
                                  "//a/b"s,
                                  "://a"s,
                                  "1http://a"s,
                                  "http:"s,
                                  "http:/a"s,
                                  "http://"s,
                                  "http:///a"s,
                                  "https://:80/"s,
                                  "http://a b/"s,
                                  "sftp://-oProxyCommand=x/f"s,
                                  "sftp://-v/f"s,
                                  "http://a/b c"s,
                                  "http://a/\n"s,
                                  "http://a/\0b"s,
                                  "http://a/\x7F"s,
                                  "http://a/\xC2\x85"s,
                                  "http://a/\xFF"s,
                                  "http://a:0/"s,
                                  "http://a:65536/"s,
                                  "http://a:8x/"s,
                                  "http://[::1/"s,
                                  "http://[]/"s,
                                  "http://[x]/"s,
                                  "http://\xC3\xA9.example/"s,
                                  "http://a%20b/"s,
                                  "http://a/%"s,
                                  "http://a/%4"s,
                                  "http://a/%zz"s,
                                  "http://a\\b/"s,
                                  "http://a/<b>"s,
                                  "file:a"s,
                                  "file://"s,
                                  "s3:bucket"s,
                                  "http://a/"s + std::string(8192, 'x')}) {
    EXPECT_FALSE(Url::try_parse(text)) << testing::PrintToString(text.substr(0, 80));
  }
}

TEST(Url, RefusesCredentialsWithoutTellingThem) {
  for (const char* text : {"https://user:secret@host/path", "ftp://secret@host/", "https://a:secret@b@host/",
                           "https://:secret@host", "sftp://u:sec%72et@h:22/x?token=secret"}) {
    try {
      (void)Url::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid);
      EXPECT_EQ((error.failure().message + error.failure().hint).find("sec"), std::string::npos) << error.what();
    }
  }
  try {
    (void)Url::parse("https://host/x y?signature=secret");
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().message.find("secret"), std::string::npos) << error.what();
  }
}

TEST(Url, ShowsNoSecretOfATextThatMayBeNone) {
  const struct {
    const char *text, *shown;
  } cases[] = {
      {"https://h/x?signature=secret#f", "https://h/x"},
      {"https://u:secret@h:99999/x?secret", "https://...@h:99999/x"},
      {"//u:secret@h/x", "://...@h/x"},
      {"/x?secret", "/x"},
      {"\x1b[31m", "\\x1b[31m"},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(printable_url(c.text), c.shown);
}

// RFC 3986, sections 5.4.1 and 5.4.2.
TEST(Url, ResolvesReferences) {
  const Url base = Url::parse("http://a/b/c/d;p?q");
  const std::pair<const char*, const char*> table[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y#s"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/./x", "http://a/b/c/g#s/./x"},
      {"g#s/../x", "http://a/b/c/g#s/../x"},
  };
  for (const auto& [reference, result] : table) EXPECT_EQ(base.resolve(reference).text(), result) << reference;
  EXPECT_EQ(Url::parse("http://a").resolve("g").text(), "http://a/g");
  EXPECT_THROW((void)base.resolve("http://user:pw@host/"), Error);
  EXPECT_THROW((void)base.resolve("a b"), Error);
}

TEST(Url, PercentDecodes) {
  EXPECT_EQ(percent_decode("a%20b%2Fc"), "a b/c");
  EXPECT_EQ(percent_decode("%00"), "\0"s);
  EXPECT_EQ(percent_decode("a+b"), "a+b");
  for (const char* text : {"%", "%1", "%g0", "a%2"}) EXPECT_THROW((void)percent_decode(text), Error) << text;
}

}  // namespace
}  // namespace sabath
