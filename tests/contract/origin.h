// A directory served by one protocol's real server: what the contract suite is run over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "sabath/fetcher.h"
#include "serve/server.h"
#include "store/store.h"
#include "support/nginx.h"
#include "support/process.h"
#include "support/registry.h"
#include "support/sshd.h"
#include "support/temp_dir.h"
#include "support/vsftpd.h"

namespace sabath::test {

[[nodiscard]] std::string user_name();  // who runs this test

class Origin {
 public:
  // rate: bytes a second of each connection, 0: none.
  Origin(const std::string& scheme, const std::filesystem::path& root, std::uint64_t rate = 0);
  [[nodiscard]] static std::string unavailable_because(const std::string& scheme);  // empty: it can run here
  [[nodiscard]] std::string url(std::string_view path) const;                       // path is percent-encoded
  [[nodiscard]] std::string final_url(std::string_view path) const;                 // where its bytes come from
  // A login, or the question where it is, goes before the first read of a file.
  [[nodiscard]] bool asks_first() const { return registry_ || service_.child; }
  [[nodiscard]] FetcherSettings settings() const;
  void kill();

 private:
  void start_web(std::uint64_t rate);
  // By hash: content, not files. What stands at the path now is put there.
  [[nodiscard]] Digest content_at(std::string_view path) const;
  [[nodiscard]] Digest put(const std::filesystem::path& file, bool large) const;
  [[nodiscard]] std::filesystem::path place(const std::string& sha256) const;
  std::string scheme_;
  std::filesystem::path root_;
  std::uint16_t port_ = 0;  // of the store's server
  std::unique_ptr<Nginx> nginx_;
  std::unique_ptr<Vsftpd> vsftpd_;
  std::unique_ptr<Sshd> sshd_;
  std::unique_ptr<Registry> registry_;
  TempDir directory_;
  ServerProcess service_;  // says that nginx has the content
  std::unique_ptr<Store> store_;
  mutable std::mutex putting_;  // of put_
  mutable std::map<std::pair<std::filesystem::path, std::filesystem::file_time_type>, Digest> put_;
  std::unique_ptr<Server> server_;
};

}  // namespace sabath::test
