#include "stage/workers.h"

namespace sabath {

Workers::Workers(unsigned threads) {
  for (unsigned worker = 0; worker < threads; ++worker) {
    threads_.emplace_back([this, worker](const std::stop_token& stop) { work(stop, worker); });
  }
}

void Workers::add(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_one();
}

void Workers::work(const std::stop_token& stop, unsigned worker) {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !tasks_.empty(); })) return;
      if (stop.stop_requested()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task(worker);
  }
}

}  // namespace sabath
