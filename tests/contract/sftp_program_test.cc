// sftp by the ssh program: when it is taken, and what it says.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "sftp_fixture.h"

namespace sabath::test {
namespace {

TEST_F(Sftp, AProxyCommandIsLeftToTheProgram) {
  const std::filesystem::path trace = root / "trace";
  configure(fmt::format("ProxyCommand bash -c 'touch {}; exec 3<>/dev/tcp/127.0.0.1/{}; cat <&3 & cat >&3'\n",
                        trace.string(), server->port()));
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::unavailable);
  EXPECT_TRUE(is_said(reading, "ProxyJump")) << reading.message();
  EXPECT_FALSE(std::filesystem::exists(trace));
  if (find_program("ssh").empty()) GTEST_SKIP() << "no ssh program";
  settings.ssh.transport = SshTransport::automatic;
  EXPECT_TRUE(get_f().bytes == seeded_bytes(1, 0, 100'000));
  EXPECT_TRUE(std::filesystem::exists(trace));
}

// A user who proved himself once, with a code from his telephone, opened a connection that others may share.
TEST_F(Sftp, AConnectionThatTheUserHasOpenedIsShared) {
  if (find_program("ssh").empty()) GTEST_SKIP() << "no ssh program";
  const std::filesystem::path socket = server->directory() / "master";
  configure(fmt::format("ControlPath {}\n", socket.string()));
  ChildProcess master({"ssh", "-F", server->config(), "-MN", "-p", std::to_string(server->port()), "127.0.0.1"},
                      server->directory() / "master.log");
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(socket); }))
      << text_of(server->directory() / "master.log");
  write_file(server->directory() / "authorized_keys", "");  // no user can log in any more
  settings.ssh.transport = SshTransport::automatic;
  EXPECT_TRUE(get_f().bytes == seeded_bytes(1, 0, 100'000));
  EXPECT_EQ(server->relay().accepted(), 1u);
  settings.ssh.transport = SshTransport::library;
  EXPECT_EQ(get_f().kind(), FailureKind::access);
}

TEST_F(Sftp, WithoutTheProgramTheLibraryDoesIt) {
  const std::filesystem::path trace = root / "trace";
  std::filesystem::create_directory(root / "bin");
  write_file(root / "bin/ssh", fmt::format("#!/bin/sh\n: > {}\nexit 255\n", trace.string()));
  std::filesystem::permissions(root / "bin/ssh", std::filesystem::perms::owner_all);
  const std::string path = ::getenv("PATH");
  settings.ssh.transport = SshTransport::automatic;
  ::setenv("PATH", (root / "bin").c_str(), 1);
  EXPECT_EQ(get_f().kind(), FailureKind::network) << "it is asked first";
  EXPECT_TRUE(std::filesystem::exists(trace));
  ::setenv("PATH", (root / "nothing").c_str(), 1);
  const Reading reading = get_f();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(reading.bytes == seeded_bytes(1, 0, 100'000)) << reading.message();
}

class SftpByProgram : public Sftp {
 protected:
  void SetUp() override {
    if (find_program("ssh").empty()) GTEST_SKIP() << "no ssh program";
    Sftp::SetUp();
    settings.ssh.transport = SshTransport::program;
  }
};

TEST_F(SftpByProgram, HostKeysAreJudgedStrictly) {
  write_file(server->known_hosts(), "");
  configure("StrictHostKeyChecking no\n");
  const Reading unknown = get_f();
  EXPECT_EQ(unknown.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(unknown, "unknown host key; ssh says: No ED25519")) << unknown.message();
  EXPECT_TRUE(is_said(unknown, fmt::format("accept it once by `ssh -p {} 127.0.0.1`", server->port())))
      << unknown.message();
  EXPECT_EQ(text_of(server->known_hosts()), "");
}

TEST_F(SftpByProgram, AKeyThatChangedOrIsRevokedIsRefused) {
  make_ssh_key(server->directory() / "other", "ed25519");
  std::string type, key;
  std::ifstream(server->directory() / "other.pub") >> type >> key;
  write_file(server->known_hosts(), fmt::format("{} {} {}\n", server->name(), type, key));
  const Reading changed = get_f();
  EXPECT_EQ(changed.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(changed, "not the one that was accepted; ssh says: SHA256:")) << changed.message();
  EXPECT_TRUE(is_said(changed, fmt::format("ssh-keygen -R '{}'", server->name()))) << changed.message();
  write_file(server->known_hosts(), fmt::format("{0} {1}\n@revoked {0} {1}\n", server->name(), server->host_key()));
  const Reading revoked = get_f();
  EXPECT_EQ(revoked.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(revoked, "is revoked")) << revoked.message();
}

TEST_F(SftpByProgram, WordsOfTheServerAreEscaped) {
  write_file(root / "banner", "\x1b[2J\x1b]0;mine\x07 welcome\n");
  serve(fmt::format("Banner {}\nMatch all\nForceCommand false", (root / "banner").string()));
  settings.ssh.transport = SshTransport::program;
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::network);
  EXPECT_EQ(reading.message().find('\x1b'), std::string::npos) << reading.message();
}

TEST_F(SftpByProgram, WhatItSaysIsUnderstood) {
  write_file(server->directory() / "authorized_keys", "");
  const Reading refused = get_f();
  EXPECT_EQ(refused.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(refused, "Permission denied")) << refused.message();
  const Reading nobody = get(fmt::format("sftp://127.0.0.1:{}/f", free_port()));
  EXPECT_EQ(nobody.kind(), FailureKind::network);
  EXPECT_TRUE(is_said(nobody, "Connection refused")) << nobody.message();
  EXPECT_EQ(get("sftp://no-such-host.invalid/f").kind(), FailureKind::unavailable);
}

TEST_F(SftpByProgram, AServerWithoutSftp) {
  serve("Match all\nForceCommand false");
  settings.ssh.transport = SshTransport::program;
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::network) << reading.message();
  EXPECT_TRUE(is_said(reading, "try `ssh")) << reading.message();
}

TEST_F(SftpByProgram, OneConnectionServesManyReadsAndIsReplacedWhenItDied) {
  for (int i = 0; i < 3; ++i) {
    const Reading part = get(server->url("/f"), {.offset = 1000, .length = 50'000});
    ASSERT_TRUE(part.bytes == seeded_bytes(1, 1000, 50'000)) << part.message();
    EXPECT_EQ(part.traffic_bytes, 50'000u);
  }
  EXPECT_EQ(server->relay().accepted(), 1u);
  server->relay().cut();
  EXPECT_EQ(get(server->url("/f")).kind(), std::nullopt);
  EXPECT_EQ(server->relay().accepted(), 2u);
}

}  // namespace
}  // namespace sabath::test
