// Samples of what this node and the run's processes use, a line of resources.jsonl each: at the start, then ever rarer
// until there is one in ten seconds, and at the end. A thread of its own, which costs some milliseconds a sample.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "machine/accelerators.h"
#include "run/usage_of_node.h"

namespace sabath {

class Sampler {
 public:
  // `take` is called from the sampler's thread. `node`: what this node is called.
  Sampler(std::function<void(std::string_view)> take, std::string node, AcceleratorProbe accelerators);
  ~Sampler();  // after the last sample

  void watch(pid_t root) noexcept { root_ = root; }  // whose descendants are the run; 0: none

 private:
  void work(const std::stop_token& stop);
  void sample(const std::stop_token& stop);

  const std::function<void(std::string_view)> take_;
  const std::string node_;
  AcceleratorProbe accelerators_;
  std::atomic<pid_t> root_{0};
  NodeUsage before_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last member: it uses all others
};

}  // namespace sabath
