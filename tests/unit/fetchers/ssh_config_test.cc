// ssh_config(5) as far as it is understood: whose word wins, patterns, tokens, files that include files.
#include "sftp/ssh_config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

class SshConfig : public testing::Test {
 protected:
  SshConfig() { std::filesystem::create_directories(home / ".ssh"); }
  SshHost host(const std::string& text, const std::string& url = "sftp://lake/f") {
    std::ofstream(settings.config) << text;
    return resolve_ssh_host(settings, Url::parse(url));
  }
  test::TempDir directory;
  std::filesystem::path home = directory / "home";
  SshSettings settings{.home = home, .config = directory / "config", .user = "me", .agent = "/agent"};
};

TEST_F(SshConfig, WithoutAWord) {
  const SshHost found = host("");
  EXPECT_EQ(found.name, "lake");
  EXPECT_EQ(found.port, 22);
  EXPECT_EQ(found.user, "me");
  EXPECT_EQ(found.agent, "/agent");
  EXPECT_EQ(found.known_name(), "lake");
  ASSERT_EQ(found.identities.size(), 3u);
  EXPECT_EQ(found.identities[0], home / ".ssh/id_ed25519");
  EXPECT_EQ(found.known_hosts[0], home / ".ssh/known_hosts");
}

TEST_F(SshConfig, TheFirstValueWinsAndIdentitiesAdd) {
  const SshHost found = host(
      "# mine\n  IdentityFile ~/one\nHost la* !lagoon\n\tHostName=%h.example.org\n Port 2200\n User = \"you\"\n"
      " IdentityFile %d/%r.key\nHost *\n Port 1\n User nobody\n HostKeyAlias other\n IdentitiesOnly yes\n");
  EXPECT_EQ(found.name, "lake.example.org");
  EXPECT_EQ(found.port, 2200);
  EXPECT_EQ(found.user, "you");
  EXPECT_EQ(found.known_name(), "other");
  EXPECT_TRUE(found.identities_only);
  EXPECT_EQ(found.identities, (std::vector<std::filesystem::path>{home / "one", home / "you.key"}));
  EXPECT_EQ(host("Host lagoon\nPort 5\nHost *\nPort 6\n", "sftp://lagoon/f").port, 5);
  EXPECT_EQ(host("Host la* !lagoon\nPort 5\nHost *\nPort 6\n", "sftp://lagoon/f").port, 6);
  EXPECT_EQ(host("Port 5\n", "sftp://lake:7/f").known_name(), "[lake]:7");
  EXPECT_EQ(host("", "sftp://[::1]:7/f").known_name(), "[::1]:7");
}

TEST_F(SshConfig, MatchAndProxies) {
  EXPECT_EQ(host("Match host lake exec \"touch /tmp/x\"\nPort 5\nMatch all\nPort 6\n").port, 6);
  EXPECT_EQ(host("ProxyJump a@gate:5,b\n").proxy_jump, "a@gate:5,b");
  EXPECT_EQ(host("ProxyJump none\n").proxy_jump, "");
  EXPECT_TRUE(host("ProxyCommand nc %h %p\n").proxy_command);
  EXPECT_FALSE(host("ProxyCommand none\n").proxy_command);
  EXPECT_EQ(host("IdentityAgent none\n").agent, "");
  EXPECT_EQ(host("IdentityAgent ~/agent\n").agent, (home / "agent").string());
}

TEST_F(SshConfig, FilesThatIncludeFiles) {
  std::ofstream(directory / "a.inc") << "Host lake\n User from-a\n";
  std::ofstream(directory / "b.inc") << "Port 5\n";
  const SshHost found = host("Include *.inc absent\nPort 9\n");
  EXPECT_EQ(found.user, "from-a");
  EXPECT_EQ(found.port, 5);
  EXPECT_THROW(static_cast<void>(host("Include config\n")), Error);  // itself, without end
}

TEST_F(SshConfig, WhatMakesNoSense) {
  for (const char* text : {"Port\n", "Port 0\n", "Port 70000\n", "User \"open\n"}) {
    EXPECT_THROW(static_cast<void>(host(text)), Error) << text;
  }
}

TEST(SshPatterns, OnlyStarAndQuestionMarkAreSpecial) {
  EXPECT_TRUE(matches_patterns("lake", {"l?k*"}));
  EXPECT_TRUE(matches_patterns("[lake]:22", {"[lake]:22"}));
  EXPECT_FALSE(matches_patterns("a", {"[a]"}));
  EXPECT_FALSE(matches_patterns("lake", {"*", "!la*"}));
  EXPECT_FALSE(matches_patterns("lake", {"!la*"}));
  EXPECT_FALSE(matches_patterns("lake", {}));
}

}  // namespace
}  // namespace sabath
