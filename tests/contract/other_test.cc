// Promises of one protocol alone: files that are none, FTP logins; and the list of schemes.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <algorithm>
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
