#include "fetch/transfer/spool.h"

#include <algorithm>

#include "sabath/error.h"

namespace sabath {

void SpoolFollower::advance(OwnPartial& partial, std::uint64_t front) {
  const std::lock_guard lock(mutex_);
  partial_ = &partial;
  front_ = front;
  moved_.notify_all();
}

void SpoolFollower::restart() {
  const std::lock_guard lock(mutex_);
  restarted_ = restarted_ || front_ > 0 || read_end_ > 0;
  front_ = 0;
  moved_.notify_all();
}

void SpoolFollower::let_go() {
  const std::lock_guard lock(mutex_);
  partial_ = nullptr;
  front_ = 0;
}

void SpoolFollower::finish(std::unique_ptr<OwnPartial> partial) {
  const std::lock_guard lock(mutex_);
  owned_ = std::move(partial);
  partial_ = owned_.get();
  front_ = partial_->front();
  finished_ = true;
  moved_.notify_all();
}

void SpoolFollower::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = !finished_;
  moved_.notify_all();
}

std::size_t SpoolFollower::read(std::uint64_t offset, std::span<std::byte> bytes) {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return restarted_ || abandoned_ || finished_ || offset < front_; });
  if (abandoned_) throw Error(FailureKind::interrupted, "the archive did not arrive");
  if (restarted_) throw Error(FailureKind::changed, "the archive is fetched anew");
  const std::uint64_t there = front_ > offset ? front_ - offset : 0;
  if (there == 0) return 0;
  const std::size_t n = partial_->read(offset, bytes.first(std::min<std::uint64_t>(there, bytes.size())));
  read_end_ = std::max<std::uint64_t>(read_end_, offset + n);
  return n;
}

void SpoolFollower::begin() {
  const std::lock_guard lock(mutex_);
  restarted_ = false;
  read_end_ = 0;
}

bool SpoolFollower::comes_anew() {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return restarted_ || abandoned_ || finished_; });
  return restarted_ && !abandoned_;
}

std::unique_ptr<OwnPartial> SpoolFollower::take() {
  const std::lock_guard lock(mutex_);
  partial_ = nullptr;
  return std::move(owned_);
}

bool SpoolFollower::whole() {
  const std::lock_guard lock(mutex_);
  return finished_;
}

}  // namespace sabath
