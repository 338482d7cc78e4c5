#include "manifest/hash_queue.h"

#include <utility>

namespace sabath {

constexpr std::size_t files_waiting_max = 256;  // each may hold a directory open

bool HashQueue::put(std::shared_ptr<HashJob> job) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return failure_ || files_.size() < files_waiting_max; });
  if (failure_) return false;
  files_.push_back(std::move(job));
  work_.notify_one();
  return true;
}

void HashQueue::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  work_.notify_all();
}

std::optional<HashTask> HashQueue::take() {
  std::unique_lock lock(mutex_);
  // A file that is being opened may turn out to be large, so no worker leaves before its size is known.
  work_.wait(lock, [&] { return failure_ || !shared_.empty() || !files_.empty() || (ended_ && opening_ == 0); });
  if (failure_) return std::nullopt;
  if (!shared_.empty()) {
    HashTask task{shared_.front(), shared_.front()->next_chunk++};
    if (task.job->next_chunk == task.job->chunks.size()) shared_.pop_front();
    return task;
  }
  if (files_.empty()) return std::nullopt;
  HashTask task{std::move(files_.front()), std::nullopt};
  files_.pop_front();
  ++opening_;
  room_.notify_one();
  return task;
}

void HashQueue::opened(const std::shared_ptr<HashJob>& job, bool share) {
  const std::lock_guard lock(mutex_);
  --opening_;
  if (share) shared_.push_back(job);
  if (share || (ended_ && opening_ == 0)) work_.notify_all();
}

void HashQueue::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  work_.notify_all();
  room_.notify_all();
}

void HashQueue::rethrow_failure() {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace sabath
