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
  [[nodiscard]] FetcherSettings settings() const;
  void kill();

 private:
  // A store has content, not files: what stands at the path now, by its digest there.
  [[nodiscard]] std::string url_in_store(std::string_view path) const;
  std::string scheme_;
  std::filesystem::path root_;
  std::uint16_t port_ = 0;  // of the store's server
  std::unique_ptr<Nginx> nginx_;
  std::unique_ptr<Vsftpd> vsftpd_;
  std::unique_ptr<Sshd> sshd_;
  TempDir directory_;
  std::unique_ptr<Store> store_;
  mutable std::mutex adopting_;  // of adopted_
  mutable std::map<std::pair<std::filesystem::path, std::filesystem::file_time_type>, Digest> adopted_;
  std::unique_ptr<Server> server_;
};

}  // namespace sabath::test
