// A real sshd for one test, a file /f in what it serves, and a user's settings for it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "origin.h"
#include "reading.h"
#include "support/seeded.h"
#include "support/sshd.h"
#include "support/temp_dir.h"

namespace sabath::test {

class Sftp : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = Sshd::unavailable_because();
    if (!reason.empty()) GTEST_SKIP() << reason;
    serve();
    write_seeded_file(root / "f", 1, 100'000);
  }

  void serve(const std::string& more = {}) {
    server = std::make_unique<Sshd>(SshdOptions{.root = root.path(), .more = more});
    settings = {.user_agent = "sabath-test", .ca_file = {}, .stall_timeout_ms = 2000};
    settings.ssh = {.home = server->directory(), .config = server->config(), .user = user_name(), .agent = {}};
    settings.ssh.transport = SshTransport::library;
  }

  Reading get(const std::string& url, const ReadOptions& options = {}) {
    if (!fetchers) fetchers = make_fetchers(settings);
    return read(*fetchers, url, options);
  }
  Reading get_f() {
    fetchers = make_fetchers(settings);
    return get(server->url("/f"));
  }
  void configure(const std::string& more) const { write_file(server->config(), more + text_of(server->config())); }
  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static bool is_said(const Reading& reading, const std::string& words) {
    return reading.message().find(words) != std::string::npos;
  }

  TempDir root;
  std::unique_ptr<Sshd> server;
  FetcherSettings settings;
  std::unique_ptr<FetcherSet> fetchers;
};

}  // namespace sabath::test
