#include "sftp/pool.h"

#include <algorithm>
#include <utility>

namespace sabath::sftp {

std::unique_ptr<Client> Pool::try_take(const std::string& login) {
  const std::lock_guard lock(mutex_);
  const auto newest = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& idle) { return idle.login == login; });
  if (newest == idle_.rend()) return nullptr;
  std::unique_ptr<Client> client = std::move(newest->client);
  idle_.erase(std::next(newest).base());
  return client;
}

void Pool::give(const std::string& login, std::unique_ptr<Client> client) {
  Idle oldest;  // closed after the lock is gone: closing may talk to the peer
  const std::lock_guard lock(mutex_);
  if (idle_.size() >= idle_max) {
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  idle_.push_back({login, std::move(client)});
}

Pool::Door::Door(Pool& pool, std::string login, std::stop_token stop) : pool_(pool), login_(std::move(login)) {
  std::unique_lock lock(pool_.mutex_);
  pool_.left_.wait(lock, std::move(stop), [&] { return pool_.logins_[login_] < logins_max; });
  ++pool_.logins_[login_];
}

Pool::Door::~Door() {
  {
    const std::lock_guard lock(pool_.mutex_);
    --pool_.logins_[login_];
  }
  pool_.left_.notify_all();
}

}  // namespace sabath::sftp
