// Threads that read and write for the exchange; by worker_count.h, how many of them work at once. The owner's thread
// adds tasks and never waits. Destruction finishes the tasks that have begun, and drops the others.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "stage/node/worker_count.h"

namespace sabath {

class Workers {
 public:
  // A task gets the number of its thread, and must not throw.
  using Task = std::function<void(unsigned worker)>;
  explicit Workers(unsigned threads);
  void add(Task task);
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(threads_.size()); }

 private:
  void work(const std::stop_token& stop, unsigned worker);
  void run(Task task, unsigned worker, std::unique_lock<std::mutex>& lock);
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  WorkerCount count_;
  unsigned busy_ = 0;
  std::vector<std::jthread> threads_;  // last: they use all the others
};

}  // namespace sabath
