// A directory served by one protocol's real server: what the contract suite is run over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "sabath/fetcher.h"
#include "support/nginx.h"
#include "support/sshd.h"
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
  std::filesystem::path root_;
  std::unique_ptr<Nginx> nginx_;
  std::unique_ptr<Vsftpd> vsftpd_;
  std::unique_ptr<Sshd> sshd_;
};

}  // namespace sabath::test
