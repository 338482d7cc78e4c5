// Threads as ranks: Comm without MPI, for tests of what ranks do together, under ThreadSanitizer too. Each collective
// is an exchange of one text from every rank, told apart by its number, so ranks that call different ones are caught.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sabath/comm.h"

namespace sabath::test {

class ThreadRanks {
 public:
  // `on_node`: two ranks share a node, or each has its own.
  explicit ThreadRanks(unsigned size, unsigned on_node = 2) : size_(size), on_node_(on_node) {}

  // Runs `work` once for each rank, each in a thread of its own; what one throws is thrown here.
  void run(const std::function<void(Comm&)>& work);

 private:
  class Rank;
  struct Exchange {
    std::vector<std::string> texts;
    std::string kind;
    unsigned given = 0, taken = 0;
  };
  void give(unsigned rank, std::uint64_t number, const std::string& kind, std::string text);
  bool complete(std::uint64_t number);
  std::vector<std::string> take(std::uint64_t number);

  struct Post {  // one message: from whom, its bytes, and the sender's mark that it was taken
    unsigned from, channel;
    std::span<const std::byte> bytes;
    std::shared_ptr<bool> taken;
  };

  const unsigned size_, on_node_;
  std::map<unsigned, std::deque<Post>> posts_;                   // by receiver, in order
  std::map<std::uint64_t, std::shared_ptr<ThreadRanks>> parts_;  // of splits, by the number of their exchange
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Exchange> exchanges_;
};

}  // namespace sabath::test
