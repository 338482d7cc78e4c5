// Promises of one protocol alone: files that are none, FTP logins; and the list of schemes.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "reading.h"
#include "support/seeded.h"
#include "support/temp_dir.h"
#include "support/vsftpd.h"

namespace sabath::test {
namespace {

std::unique_ptr<FetcherSet> fetchers() { return make_fetchers({.user_agent = "sabath-test", .ca_file = {}}); }

TEST(Schemes, KnownIsNotBuilt) {
  const auto set = fetchers();
  for (const Scheme& scheme : set->schemes()) {
    EXPECT_EQ(set->find(scheme.name) != nullptr || scheme.resolver, scheme.built) << scheme.name;
  }
  const auto all = set->schemes();
  for (const char* name :
       {"http", "https", "ftp", "file", "sftp", "scp", "s3", "globus", "hf", "zenodo", "doi", "oci", "sabath"}) {
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [&](const Scheme& s) { return s.name == name; }), 1) << name;
  }
  EXPECT_EQ(set->find("gopher"), nullptr);
}

TEST(FileFetcher, OnlyRegularFilesOfThisMachine) {
  const auto set = fetchers();
  const TempDir directory;
  mkfifo((directory / "fifo").c_str(), 0666);
  std::filesystem::create_symlink("loop", directory / "loop");
  const std::string base = "file://" + directory.path().string();
  for (const std::string& url : {base, base + "/fifo", base + "/loop", std::string("file:///dev/zero"), base + "/a%00b",
                                 std::string("file://elsewhere/etc/passwd")}) {
    EXPECT_EQ(read(*set, url).kind(), FailureKind::unavailable) << url;
  }
  write_file(directory / "f", "x");
  EXPECT_EQ(read(*set, "file://localhost" + (directory / "f").string()).bytes, "x");
}

TEST(FileFetcher, WithoutPermission) {
  const TempDir directory;
  write_file(directory / "f", "x");
  chmod((directory / "f").c_str(), 0);
  std::thread([&] {
    setfsuid(65534);  // of this thread: root may read everything
    const Reading reading = read(*fetchers(), "file://" + (directory / "f").string());
    EXPECT_EQ(reading.kind(), FailureKind::access) << reading.message();
  }).join();
}

TEST(FtpFetcher, RefusedLoginIsAccess) {
  const std::string reason = Vsftpd::unavailable_because();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const TempDir root;
  write_file(root / "f", "x");
  const Vsftpd server({.root = root.path(), .anonymous = false});
  const Reading reading = read(*fetchers(), server.url("/f"));
  EXPECT_EQ(reading.kind(), FailureKind::access) << reading.message();
}

// A client that is refused for now may come again, and with fewer connections. With TLS from the first byte, the server
// refuses in clear text.
TEST(FtpFetcher, NoMoreUsersForNow) {
  const std::string reason = Vsftpd::unavailable_because();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const TempDir root;
  write_file(root / "f", "x");
  for (const bool tls : {false, true}) {
    const Vsftpd server({.root = root.path(), .users_max = 1, .tls = tls});
    const auto set = make_fetchers({.user_agent = "sabath-test", .ca_file = server.ca_file()});
    std::optional<Reading> second;
    const ReadOptions asks_again{.on_write = [&] { second = read(*set, server.url("/f")); }};
    for (int i = 0; i < 100 && !second; ++i) {  // the probe that it is up may still be connected
      const Reading first = read(*set, server.url("/f"), asks_again);
      EXPECT_EQ(first.bytes, first.failure ? "" : "x") << first.message();
      if (!second) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_TRUE(second && second->failure) << tls;
    EXPECT_EQ(second->kind(), FailureKind::network) << second->message();
    EXPECT_EQ(second->failure->retry_after, std::chrono::milliseconds(0)) << second->message();
  }
}

// A server of FTP as of 1985: it knows neither SIZE nor MDTM, so that the end of the data is all that it says of them.
class FtpWithoutSize {
 public:
  explicit FtpWithoutSize(std::string content, std::string refusal = {})
      : content_(std::move(content)), refusal_(std::move(refusal)), thread_([this] { serve(); }) {}
  ~FtpWithoutSize() { shutdown(control_.fd, SHUT_RDWR); }  // fetchers with a kept connection go before it
  FtpWithoutSize(const FtpWithoutSize&) = delete;
  FtpWithoutSize& operator=(const FtpWithoutSize&) = delete;
  [[nodiscard]] std::string url() const { return "ftp://127.0.0.1:" + std::to_string(control_.port) + "/f"; }

 private:
  struct Listener {
    Listener() {
      sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
      socklen_t size = sizeof address;
      auto* generic = reinterpret_cast<sockaddr*>(&address);
      if (bind(fd, generic, size) != 0 || listen(fd, 8) != 0 || getsockname(fd, generic, &size) != 0) ADD_FAILURE();
      port = ntohs(address.sin_port);
    }
    ~Listener() { close(fd); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::uint16_t port = 0;
  };

  void serve() {
    for (int peer = -1; (peer = accept(control_.fd, nullptr, nullptr)) >= 0; close(peer)) {
      const auto say = [peer](const std::string& text) { send(peer, text.data(), text.size(), MSG_NOSIGNAL); };
      say("220 old\r\n");
      char line[256];
      for (ssize_t got = 0; (got = recv(peer, line, sizeof line, 0)) > 0;) {  // a client waits for each answer
        const std::string_view command(line, std::min<std::size_t>(4, static_cast<std::size_t>(got)));
        if (command == "USER")
          say("230 in\r\n");
        else if (command == "EPSV")
          say("229 here (|||" + std::to_string(data_.port) + "|)\r\n");
        else if (command == "TYPE" || command == "CWD ")
          say("200 so be it\r\n");
        else if (command == "RETR" && !refusal_.empty())
          say(refusal_ + "\r\n");
        else if (command == "RETR") {
          say("150 data\r\n");
          const int data = accept(data_.fd, nullptr, nullptr);
          send(data, content_.data(), content_.size(), MSG_NOSIGNAL);
          close(data);
          say("226 done\r\n");
        } else
          say("502 not known\r\n");
      }
    }
  }

  const std::string content_, refusal_;
  Listener control_, data_;
  std::jthread thread_;
};

TEST(FtpFetcher, AServerThatSaysNoSize) {
  const std::string content = seeded_bytes(1, 0, 300'000);
  const FtpWithoutSize server(content);
  const auto set = fetchers();
  const Reading whole = read(*set, server.url());
  ASSERT_EQ(whole.kind(), std::nullopt) << whole.message();
  EXPECT_TRUE(whole.bytes == content);
  EXPECT_EQ(whole.info.size_bytes, std::nullopt);
  EXPECT_FALSE(whole.info.ranges);
  EXPECT_TRUE(whole.info.validators.empty());
  EXPECT_EQ(read(*set, server.url(), {.length = 10}).bytes, content.substr(0, 10));
}

TEST(FtpFetcher, ARefusalIsToldInTheServersWordsEscaped) {
  const auto refused = [](const char* reply) {
    const FtpWithoutSize server("", reply);
    return read(*fetchers(), server.url());
  };
  const Reading absent = refused("550 Failed to open file. \x1b[2J");
  EXPECT_EQ(absent.kind(), FailureKind::unavailable);
  EXPECT_NE(absent.message().find("the server says: 550 Failed to open file."), std::string::npos) << absent.message();
  EXPECT_EQ(absent.message().find('\x1b'), std::string::npos);
  EXPECT_EQ(refused("550 f: Permission denied").kind(), FailureKind::access);
}

TEST(FtpFetcher, OnlyFiles) {
  const auto set = fetchers();
  for (const char* url : {"ftp://127.0.0.1/", "ftp://127.0.0.1/d/", "ftp://127.0.0.1/f;type=a"}) {
    const Reading reading = read(*set, url);
    EXPECT_EQ(reading.kind(), FailureKind::unavailable) << reading.message();
    EXPECT_EQ(reading.requests, 0u);
  }
}

}  // namespace
}  // namespace sabath::test
