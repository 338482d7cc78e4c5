// Conversations with SFTP servers that wait for their next read, newest first, and the doors of servers: a server that
// sees more than a few logins at once turns the rest away (MaxStartups of sshd). Thread-safe.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "sftp/client.h"

namespace sabath::sftp {

class Pool {
 public:
  [[nodiscard]] std::unique_ptr<Client> try_take(const std::string& login);  // nullptr: there is none
  void give(const std::string& login, std::unique_ptr<Client> client);

  // Held while a login is under way. A stop request ends the wait for it; the login then notices by itself.
  class Door {
   public:
    Door(Pool& pool, std::string login, std::stop_token stop);
    ~Door();
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;

   private:
    Pool& pool_;
    const std::string login_;
  };

 private:
  static constexpr std::size_t idle_max = 64;
  static constexpr int logins_max = 6;  // at once; sshd begins to refuse at 10
  struct Idle {
    std::string login;
    std::unique_ptr<Client> client;
  };
  std::mutex mutex_;
  std::condition_variable_any left_;
  std::vector<Idle> idle_;  // newest last
  std::map<std::string, int> logins_;
};

}  // namespace sabath::sftp
