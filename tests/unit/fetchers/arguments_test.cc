// The arguments of external programs, the descriptions that are refused, and logins in netrc.

#include "command/arguments.h"

#include <gtest/gtest.h>

#include "command/description.h"
#include "curl/authorization.h"
#include "kind_of.h"
#include "sabath/error.h"

namespace sabath {
namespace {

ReadRequest request_for(const std::string& url, std::uint64_t offset = 0, std::optional<std::uint64_t> length = {}) {
  return {Url::parse(url), offset, length, {}};
}

std::vector<std::string> expanded(const std::vector<ArgumentGroup>& argv, const ReadRequest& request) {
  return expand(argv, placeholders_of(request, {}, "/scratch/content"), "test");
}

TEST(Arguments, PlaceholdersOfAUrl) {
  const std::vector<ArgumentGroup> argv{
      {{"p"}},     {{"{host}"}}, {{"{authority}"}}, {{"-P", "{port}"}, true},
      {{"--"}},    {{"{path}"}}, {{"{name}"}},      {{"x={offset}-{last}/{length}"}, true},
      {{"{file}"}}};
  EXPECT_EQ(
      expanded(argv, request_for("sftp://h:22/a%20b", 5, 10)),
      (std::vector<std::string>{"p", "h", "h:22", "-P", "22", "--", "/a b", "a b", "x=5-14/10", "/scratch/content"}));
  EXPECT_EQ(expanded(argv, request_for("sftp://h/a")),
            (std::vector<std::string>{"p", "h", "h", "--", "/a", "a", "/scratch/content"}));
}

TEST(Arguments, AValueStaysOneArgument) {
  const std::vector<ArgumentGroup> argv{{{"p"}}, {{"--"}}, {{"{name}"}}};
  for (const char* name : {"$(touch X)", "`touch X`", "a b", "'", "\"", "{url}", "*", ";", "-o", "--", "|", "&&"}) {
    std::string encoded;
    for (const char* c = name; *c != 0; ++c)
      encoded += "%" + std::string(1, "0123456789ABCDEF"[*c >> 4]) + "0123456789ABCDEF"[*c & 15];
    EXPECT_EQ(expanded(argv, request_for("x://h/" + encoded)), (std::vector<std::string>{"p", "--", name}));
  }
}

TEST(Arguments, WhatNoProgramSees) {
  for (const char* url : {"x://h/a%0Ab", "x://h/a%00b", "x://h/%1b[31m", "x://h/%c2%9b", "x://h/%7f"}) {
    EXPECT_EQ(kind_of([&] { static_cast<void>(placeholders_of(request_for(url), {}, "")); }), FailureKind::invalid)
        << url;
  }
  EXPECT_EQ(kind_of([] { static_cast<void>(placeholders_of(request_for("x://h/a?signature=secret"), {}, "")); }),
            FailureKind::unavailable);
}

TEST(Arguments, OptionsByTheBackDoor) {
  EXPECT_NE(fault_of({{{"p"}}, {{"{path}"}}}), "");
  EXPECT_NE(fault_of({{{"p"}}, {{"{name}x"}}}), "");
  EXPECT_NE(fault_of({{{"p"}}, {{"-x", "{name}"}, true}}), "");
  EXPECT_NE(fault_of({{{"{host}"}}}), "");
  EXPECT_NE(fault_of({{{"p"}}, {{"{what}"}}}), "");
  EXPECT_EQ(fault_of({{{"p"}}, {{"--key={name}"}}}), "");
  EXPECT_EQ(fault_of({{{"p"}}, {{"--"}}, {{"{name}"}}}), "");
  EXPECT_EQ(fault_of({{{"p"}}, {{"{url}"}}}), "");
}

TEST(Descriptions, Whole) {
  const Description d = parse_description(R"({"schema": 1, "name": "p", "schemes": ["x"],
    "read": {"argv": ["p", "--", "{path}"], "output": "stdout"},
    "range": {"argv": ["p", ["-c", "{length}"], "-o{offset}", "--", "{path}"], "output": "stdout"},
    "environment": {"A": "b"}, "pass": ["C"], "failures": [{"exit": [3], "stderr": "no", "kind": "access", "hint": "h"}],
    "tried": null, "note": "n"})",
                                          "f.json");
  EXPECT_EQ(d.program(), "p");
  EXPECT_TRUE(d.range && d.range_has_end);
  EXPECT_EQ(d.failures.at(0).kind, FailureKind::access);
  EXPECT_TRUE(d.tried.empty());
}

TEST(Descriptions, SayWhoFindsTheAddress) {
  const auto parsed = [](const std::string& address, const std::string& argv) {
    return parse_description(R"({"schema": 1, "name": "p", "schemes": ["x"], )" + address +
                                 R"("read": {"argv": ["p", )" + argv + R"("--", "{path}"], "output": "stdout"}})",
                             "f.json");
  };
  EXPECT_EQ(parsed("", "").address, AddressKind::own) << "of which nothing is known";
  EXPECT_EQ(parsed(R"("address": "service", )", "").address, AddressKind::service);
  EXPECT_EQ(parsed(R"("address": "given", )", R"(["--resolve", "{resolve}"], )").address, AddressKind::given);
  EXPECT_THROW(parsed(R"("address": "given", )", ""), Error) << "it is not told";
  EXPECT_THROW(parsed("", R"(["--resolve", "{resolve}"], )"), Error);
  EXPECT_THROW(parsed(R"("address": "any", )", ""), Error);
}

TEST(Netrc, ALoginBelongsToItsHost) {
  const char* text =
      "macdef init\nmachine h login evil password evil\n\n# x\ndefault login any password any\n"
      "machine other login o password p\nmachine H login me\n password pw account a\nmachine h login two password x\n";
  const auto login = try_find_login(text, "h");
  ASSERT_TRUE(login);
  EXPECT_EQ(login->name, "me");
  EXPECT_EQ(login->password.reveal(), "pw");
  EXPECT_FALSE(try_find_login(text, "nobody"));
  EXPECT_FALSE(try_find_login("machine", "h"));
  EXPECT_FALSE(try_find_login("", "h"));
}

TEST(Netrc, TheGrammarOfCurl) {
  struct Case {
    const char *what, *text, *name, *password;
  };
  const Case cases[] = {
      {"a line each", "machine h\n  login me\n  password pw\n", "me", "pw"},
      {"in quotes", R"(machine "h" login "a b" password "x\"y\\z\tq")", "a b", "x\"y\\z\tq"},
      {"a hash in quotes, and in a word", "machine h login \"#me\" password p#w", "#me", "p#w"},
      {"comments", "# machine h login no password no\nmachine h # the login\nlogin me #x\npassword pw", "me", "pw"},
      {"keys in capitals", "MACHINE h LOGIN me PASSWORD pw", "me", "pw"},
      {"the first that is whole", "machine h login half\nmachine h login me password pw\nmachine h login c password d",
       "me", "pw"},
      {"half, where there is no other", "machine h login me\nmachine x login y password z", "me", ""},
      {"behind default", "default login a password b\nmachine h login me password pw", "me", "pw"},
      {"behind a macro of two lines", "macdef m\nmachine h login no\nquit\n\nmachine h login me password pw", "me",
       "pw"},
      {"with CR", "macdef m\r\nmachine h\r\n\r\nmachine h\r\nlogin me\r\npassword pw\r\n", "me", "pw"},
      {"words that look like keys", "machine x login machine password h\nmachine h login login password password",
       "login", "password"},
  };
  for (const Case& c : cases) {
    const auto login = try_find_login(c.text, "h");
    ASSERT_TRUE(login) << c.what;
    EXPECT_EQ(login->name, c.name) << c.what;
    EXPECT_EQ(login->password.reveal(), c.password) << c.what;
  }
  for (const char* text : {"machine \"h", "machine h login \"me\\", "machine x password \"pw\nmachine h login me"}) {
    EXPECT_THROW(static_cast<void>(try_find_login(text, "h")), Error) << text;
  }
}

}  // namespace
}  // namespace sabath
