#include "stage/node/workers.h"

#include <chrono>
#include <utility>

#include "base/threads.h"

namespace sabath {

Workers::Workers(unsigned threads) : count_(threads) {
  for (unsigned worker = 0; worker < threads; ++worker) {
    const bool one_more = try_add_thread(threads_, [this, worker](const std::stop_token& stop) { work(stop, worker); });
    if (!one_more) break;
  }
  if (threads_.empty()) throw Error(few_threads());
}

void Workers::add(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_one();
}

void Workers::work(const std::stop_token& stop, unsigned worker) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !tasks_.empty() && busy_ < count_.now(); })) {
    if (stop.stop_requested()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    run(std::move(task), worker, lock);
  }
}

void Workers::run(Task task, unsigned worker, std::unique_lock<std::mutex>& lock) {
  ++busy_;
  const unsigned before = count_.now();
  const bool full = busy_ == before;
  lock.unlock();
  const auto begun = std::chrono::steady_clock::now();
  task(worker);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
  task = nullptr;  // what it holds goes without the lock
  lock.lock();
  if (full && busy_ == before && before == count_.now()) count_.note(passed.count());
  --busy_;
  if (count_.now() > before) changed_.notify_all();
}

}  // namespace sabath
