// Promises of sftp alone: the host keys that are believed, the user's login, and connections that end while they idle.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "sabath/digest.h"
#include "sftp_fixture.h"

namespace sabath::test {
namespace {

TEST_F(Sftp, ScpIsTheSame) {
  std::string url = server->url("/f");
  url.replace(0, 4, "scp");
  EXPECT_EQ(get(url).bytes, seeded_bytes(1, 0, 100'000));
}

TEST_F(Sftp, AnUnknownHostKeyIsRefused) {
  write_file(server->known_hosts(), "");
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, "unknown host key of " + server->name())) << reading.message();
  EXPECT_TRUE(is_said(reading, "ssh-ed25519 SHA256:")) << reading.message();
  EXPECT_TRUE(is_said(reading, "accept it once by `ssh -p")) << reading.message();
  EXPECT_EQ(reading.requests, 0u);
  std::filesystem::remove(server->known_hosts());
  EXPECT_EQ(get_f().kind(), FailureKind::access);
}

TEST_F(Sftp, AChangedHostKeyIsRefused) {
  make_ssh_key(server->directory() / "other", "ed25519");
  std::string type, key;
  std::ifstream(server->directory() / "other.pub") >> type >> key;
  write_file(server->known_hosts(), fmt::format("{} {} {}\n", server->name(), type, key));
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, "not the one that was accepted")) << reading.message();
  EXPECT_TRUE(is_said(reading, "ssh-keygen -R")) << reading.message();
}

TEST_F(Sftp, TheFingerprintIsTheOneThatSshKeygenShows) {
  const std::filesystem::path shown = server->directory() / "shown";
  ChildProcess keygen({"ssh-keygen", "-lf", server->directory() / "host_key.pub"}, shown);
  ASSERT_EQ(keygen.wait(), 0);
  write_file(server->known_hosts(), "");
  const std::string text = text_of(shown);
  const std::size_t begin = text.find("SHA256:");
  EXPECT_TRUE(is_said(get_f(), text.substr(begin, text.find(' ', begin) - begin))) << text;
}

TEST_F(Sftp, ARevokedHostKeyIsRefused) {
  write_file(server->known_hosts(), fmt::format("{0} {1}\n@revoked {0} {1}\n", server->name(), server->host_key()));
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, "is revoked")) << reading.message();
}

TEST_F(Sftp, HashedKnownHostsAreKnown) {
  ChildProcess keygen({"ssh-keygen", "-H", "-f", server->known_hosts()}, server->directory() / "keygen.log");
  ASSERT_EQ(keygen.wait(), 0);
  ASSERT_EQ(text_of(server->known_hosts()).find("127.0.0.1"), std::string::npos);
  EXPECT_EQ(get_f().kind(), std::nullopt);
}

TEST_F(Sftp, AHostByItsShortName) {
  configure(fmt::format("Host lake\n HostName 127.0.0.1\n Port {}\n User {}\nHost *\n", server->port(), user_name()));
  settings.ssh.user = "nobody-else";
  fetchers = make_fetchers(settings);
  const std::string url = "sftp://lake" + root.path().string() + "/f";
  const Reading reading = get(url);
  EXPECT_EQ(reading.kind(), std::nullopt) << reading.message();
  EXPECT_EQ(reading.info.final_url, url);
}

TEST_F(Sftp, KeysOfEveryKindThatServersTake) {
  for (const char* type : {"ed25519", "ecdsa"}) {
    const std::filesystem::path key = server->directory() / type;
    make_ssh_key(key, type);
    write_file(server->directory() / "authorized_keys", text_of(key.string() + ".pub"));
    write_file(server->config(),
               fmt::format("IdentityFile {}\nUserKnownHostsFile {}\n", key.string(), server->known_hosts().string()));
    const Reading reading = get_f();
    EXPECT_EQ(reading.kind(), std::nullopt) << type << ": " << reading.message();
  }
}

TEST_F(Sftp, WithoutAKeyThatIsAccepted) {
  write_file(server->directory() / "authorized_keys", "");
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, server->key().string() + " (refused)")) << reading.message();
  EXPECT_TRUE(is_said(reading, "it takes: publickey")) << reading.message();
  EXPECT_TRUE(is_said(reading, "ssh -oBatchMode=yes 127.0.0.1")) << reading.message();
}

// A server that hangs up on who has shown a wrong key has refused it: nothing to be tried again for.
TEST_F(Sftp, AServerThatHearsOfOneKeyOnly) {
  serve("MaxAuthTries 1\n");
  std::string config = fmt::format("UserKnownHostsFile {}\n", server->known_hosts().string());
  for (const char* name : {"first", "second"}) {
    make_ssh_key(server->directory() / name, "ed25519");
    config += fmt::format("IdentityFile {}\n", (server->directory() / name).string());
  }
  write_file(server->config(), config);
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access) << reading.message();
  EXPECT_TRUE(is_said(reading, "/first (refused)")) << reading.message();
}

TEST_F(Sftp, AKeyWithAPassphraseIsNotAskedFor) {
  std::filesystem::remove(server->key());
  std::filesystem::remove(server->key().string() + ".pub");
  make_ssh_key(server->key(), "ed25519", "a long passphrase");
  write_file(server->directory() / "authorized_keys", text_of(server->key().string() + ".pub"));
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, "locked by a passphrase")) << reading.message();
  EXPECT_TRUE(is_said(reading, "ssh-add")) << reading.message();
}

TEST_F(Sftp, AKeyThatOthersMayReadIsNotUsed) {
  chmod(server->key().c_str(), 0644);
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, "chmod 600")) << reading.message();
}

TEST_F(Sftp, TheAgentsKeys) {
  if (find_program("ssh-agent").empty() || find_program("ssh-add").empty()) GTEST_SKIP() << "no ssh-agent";
  const std::filesystem::path socket = server->directory() / "agent";
  ChildProcess agent({"ssh-agent", "-D", "-a", socket}, server->directory() / "agent.log");
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(socket); }));
  ChildProcess add({"env", "SSH_AUTH_SOCK=" + socket.string(), "ssh-add", server->key()},
                   server->directory() / "add.log");
  ASSERT_EQ(add.wait(), 0) << text_of(server->directory() / "add.log");
  std::filesystem::remove(server->key());
  EXPECT_EQ(get_f().kind(), FailureKind::access);
  settings.ssh.agent = socket;
  EXPECT_EQ(get_f().kind(), std::nullopt);
  configure("IdentitiesOnly yes\n");  // its public half still names it
  EXPECT_EQ(get_f().kind(), std::nullopt);
  std::filesystem::remove(server->key().string() + ".pub");
  EXPECT_EQ(get_f().kind(), FailureKind::access);
}

TEST_F(Sftp, ThroughAProxyJump) {
  if (find_program("ssh").empty()) GTEST_SKIP() << "no ssh program";
  Sshd gateway(SshdOptions{.root = root.path()});
  // The gateway takes the same key; the program that jumps reads the same configuration.
  std::filesystem::copy_file(server->directory() / "authorized_keys", gateway.directory() / "authorized_keys",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(server->known_hosts(), std::ios::app) << gateway.name() << ' ' << gateway.host_key() << '\n';
  configure(fmt::format("Host behind\n HostName 127.0.0.1\n Port {}\n ProxyJump {}@127.0.0.1:{}\nHost *\n",
                        server->port(), user_name(), gateway.port()));
  fetchers = make_fetchers(settings);
  const std::string url = "sftp://behind" + root.path().string() + "/f";
  const Reading reading = get(url);
  EXPECT_EQ(reading.kind(), std::nullopt) << reading.message();
  EXPECT_TRUE(reading.bytes == seeded_bytes(1, 0, 100'000));
  EXPECT_EQ(gateway.relay().accepted(), 1u);
  gateway.kill();
  fetchers = make_fetchers(settings);
  const Reading down = get(url);
  EXPECT_EQ(down.kind(), FailureKind::network);
  EXPECT_TRUE(is_said(down, "the ProxyJump says:")) << down.message();
}

TEST_F(Sftp, WhatIsNotARegularFile) {
  std::filesystem::create_directory(root / "d");
  for (const char* path : {"/d", "/d/", "/", "/absent/f", "/f/g", "/a%00b"}) {
    const Reading reading = get(server->url(path));
    EXPECT_EQ(reading.kind(), FailureKind::unavailable) << path << ": " << reading.message();
    EXPECT_EQ(reading.begins, 0);
  }
  EXPECT_EQ(get(server->url("/f")).kind(), std::nullopt);
  EXPECT_LE(server->relay().accepted(), 3u);  // what is not there costs no connection
}

TEST_F(Sftp, WithoutPermission) {
  if (geteuid() == 0) {  // root may read everything here: the server runs as a user who may not
    serve("Match all\nForceCommand setpriv --reuid=65534 --clear-groups /usr/lib/openssh/sftp-server");
    if (find_program("setpriv").empty()) GTEST_SKIP() << "no setpriv";
  }
  chmod((root / "f").c_str(), 0);
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::access) << reading.message();
  EXPECT_TRUE(is_said(reading, "Permission denied")) << reading.message();
}

TEST_F(Sftp, AConnectionThatDiedMeanwhileIsReplaced) {
  EXPECT_EQ(get(server->url("/f")).kind(), std::nullopt);
  server->relay().cut();
  const Reading reading = get(server->url("/f"));
  EXPECT_EQ(reading.kind(), std::nullopt) << reading.message();
  EXPECT_EQ(server->relay().accepted(), 2u);
}

TEST_F(Sftp, OneConnectionServesManyReads) {
  write_seeded_file(root / "g", 2, chunk_size_bytes);
  fetchers = make_fetchers(settings);
  fetchers->find("sftp")->warm_up(Url::parse(server->url("/f")), {});
  EXPECT_EQ(server->relay().accepted(), 1u);
  for (int i = 0; i < 5; ++i) {
    const Reading whole = get(server->url("/f"));
    ASSERT_EQ(whole.bytes, seeded_bytes(1, 0, 100'000));
    const Reading part = get(server->url("/g"), {.offset = 1000, .length = 2'000'000});
    ASSERT_TRUE(part.bytes == seeded_bytes(2, 1000, 2'000'000)) << part.message();
    EXPECT_EQ(part.traffic_bytes, 2'000'000u);  // not a byte beyond what was wanted
  }
  EXPECT_EQ(server->relay().accepted(), 1u);
}

TEST_F(Sftp, AResetInTheMiddle) {
  write_seeded_file(root / "g", 2, 8 << 20);
  server->relay().reset_after(3 << 20);
  const Reading reading = get(server->url("/g"));
  EXPECT_EQ(reading.kind(), FailureKind::network) << reading.message();
  EXPECT_LT(reading.bytes.size(), 8u << 20);
  EXPECT_TRUE(reading.bytes == seeded_bytes(2, 0, reading.bytes.size()));
}

TEST_F(Sftp, AFileThatChangesWhileItIsRead) {
  write_seeded_file(root / "g", 2, 16 << 20);
  bool first = true;
  const auto shorten = [&] {
    if (std::exchange(first, false)) std::filesystem::resize_file(root / "g", 1 << 20);
  };
  EXPECT_EQ(get(server->url("/g"), {.on_write = shorten}).kind(), FailureKind::changed);
  first = true;
  write_seeded_file(root / "g", 2, 16 << 20);
  const auto lengthen = [&] {
    if (std::exchange(first, false)) std::filesystem::resize_file(root / "g", 32 << 20);
  };
  EXPECT_EQ(get(server->url("/g"), {.on_write = lengthen}).kind(), FailureKind::changed);
}

TEST_F(Sftp, AFileThatIsReplacedBetweenTwoReads) {
  const Validators begun = get(server->url("/f"), {.length = 10}).info.validators;
  EXPECT_EQ(get(server->url("/f"), {.offset = 10, .expected = begun}).kind(), std::nullopt);
  write_seeded_file(root / "g", 2, 50'000);
  std::filesystem::rename(root / "g", root / "f");
  EXPECT_EQ(get(server->url("/f"), {.offset = 10, .expected = begun}).kind(), FailureKind::changed);
  EXPECT_TRUE(get(server->url("/f")).bytes == seeded_bytes(2, 0, 50'000));
}

TEST_F(Sftp, NobodyListens) {
  server->kill();
  const std::string url = fmt::format("sftp://127.0.0.1:{}/f", free_port());
  const Reading reading = get(url);
  EXPECT_EQ(reading.kind(), FailureKind::network);
  EXPECT_TRUE(is_said(reading, "Connection refused")) << reading.message();
  EXPECT_EQ(get("sftp://no-such-host.invalid/f").kind(), FailureKind::unavailable);
}

TEST_F(Sftp, AServerThatIsNoneOfSsh) {
  const Nginx web({.root = root.path()});
  const Reading reading = get(fmt::format("sftp://127.0.0.1:{}/f", web.port()));
  EXPECT_TRUE(reading.kind() == FailureKind::network || reading.kind() == FailureKind::unavailable);
}

TEST_F(Sftp, ALoginShellThatTalks) {
  serve("Match all\nForceCommand echo Welcome to the lake; /usr/lib/openssh/sftp-server");
  const Reading reading = get_f();
  EXPECT_EQ(reading.kind(), FailureKind::unavailable);
  EXPECT_TRUE(is_said(reading, "login script")) << reading.message();
}

}  // namespace
}  // namespace sabath::test
