// Threads that read and write for the exchange: tasks go in, what is done comes out. The owner's thread adds and takes;
// it never waits. Destroyed: what has begun is finished, what has not is dropped.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

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
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  std::vector<std::jthread> threads_;  // last: they use all the others
};

}  // namespace sabath
