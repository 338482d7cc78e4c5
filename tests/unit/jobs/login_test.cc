#include "hosts/login.h"

#include <gtest/gtest.h>

#include "hosts/call_text.h"
#include "hosts/ssh_verdict.h"
#include "sabath/error.h"

namespace sabath::test {
namespace {

TEST(Logins, AreNamesThatNoShellReads) {
  for (const char* good : {"login1", "me@login1.lab", "a@b@host", "my_alias", "user@10.0.0.1", "fe80::1"})
    EXPECT_NO_THROW(refuse_odd_login({.host = good})) << good;
  for (const char* bad : {"", "-x", "a b", "a;b", "me@", "@x", "me@-x", "-me@x", "$x", "a/b", "`x`", "a'b", "a%b"})
    EXPECT_THROW(refuse_odd_login({.host = bad}), Error) << bad;
  for (const char* bad : {"", "-x", "~", "~/", "/opt/", "a b", "~me/x", "$HOME/x", "a;b", "\"x\"", "x\n"})
    EXPECT_THROW(refuse_odd_login({.host = "x", .program = bad}), Error) << bad;
}

TEST(Logins, OfSshNoTokenIsGiven) {
  for (const char* good : {"PATH", "HOME", "SSH_AUTH_SOCK", "LC_ALL", "KRB5CCNAME"}) EXPECT_TRUE(is_for_ssh(good));
  for (const char* bad : {"SABATH_TOKEN", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "https_proxy", "LOADEDMODULES", "SSH"})
    EXPECT_FALSE(is_for_ssh(bad)) << bad;
}

TEST(Calls, ComeBackAsTheyWereMade) {
  const std::string nonce = new_nonce();
  HostCall call;
  call.version = "1";
  call.request_text = R"({"model":"net"})";
  call.recipes = {{"model", "model", "net", "sha256:x", "{\r\n\x01}"}};
  call.lock = "\ttext";
  const std::string text = text_of(call, nonce);
  const auto end = text.find('\n');
  const CallHead head = parse_call_head(std::string_view(text).substr(0, end));
  EXPECT_EQ(head.nonce, nonce);
  EXPECT_EQ(head.bytes, text.size() - end - 1);
  const HostCall read = parse_host_call(std::string_view(text).substr(end + 1));
  ASSERT_EQ(read.recipes.size(), 1U);
  EXPECT_EQ(read.recipes[0].text, call.recipes[0].text);
  EXPECT_EQ(read.recipes[0].role, "model");
  EXPECT_EQ(read.lock, call.lock);
  EXPECT_NE(nonce, new_nonce());
}

TEST(Calls, AreNotMadeOfWhatIsNoText) {
  HostCall call;
  call.version = "1";
  call.request_text = "{}";
  call.lock = "\xff";
  EXPECT_THROW(static_cast<void>(text_of(call, new_nonce())), Error);
  call.lock = std::string(call_bytes_max, 'x');
  EXPECT_THROW(static_cast<void>(text_of(call, new_nonce())), Error);
}

TEST(Calls, HaveTheirOwnCodeForEachFailureOfSsh) {
  const HostLogin login{.host = "far"};
  const auto kind = [&](int status, const char* line) { return why_no_answer(login, {status, {line}, ""}).kind; };
  EXPECT_EQ(kind(255, "me@far: Permission denied (publickey)."), FailureKind::access);
  EXPECT_EQ(kind(255, "Host key verification failed."), FailureKind::access);
  EXPECT_EQ(kind(255, "ssh: Could not resolve hostname far: Name or service not known"), FailureKind::unavailable);
  EXPECT_EQ(kind(255, "ssh: connect to host far port 22: Connection timed out"), FailureKind::network);
  EXPECT_EQ(kind(255, "kex_exchange_identification: Connection closed by remote host"), FailureKind::network);
  EXPECT_EQ(kind(255, "/x: line 1: Bad configuration option: nonsense"), FailureKind::invalid);
  EXPECT_EQ(kind(127, "bash: sabath: command not found"), FailureKind::command);
  EXPECT_EQ(kind(0, "motd"), FailureKind::command);
  EXPECT_EQ(why_broken_off(login, {255, {}, ""}, "later").kind, FailureKind::network);
  EXPECT_EQ(why_broken_off(login, {137, {}, ""}, "later").hint, "later");
}

}  // namespace
}  // namespace sabath::test
