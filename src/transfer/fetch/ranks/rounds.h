// Orders of rank 0 to an MPI job while its lanes work: short rounds that all ranks keep together, a heartbeat each.
//
// The main thread of every rank serves the rounds and makes all MPI calls; other threads move the bytes, and speak by
// this object. Rank 0 gives orders; each rank works on its part and reports. A round tells how many were asked to stop,
// how many work and how far they are, and passes news on (an origin that asked for a pause, ...).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "comm/heartbeat.h"
#include "sabath/comm.h"

namespace sabath {

class Rounds {
 public:
  struct Order {
    std::string all, own;  // the same for all ranks; this one's
  };
  struct Tally {  // since the order came
    std::uint64_t received_bytes = 0, files = 0, sizes_learnt = 0, sizes_learnt_bytes = 0, kept_bytes = 0;
  };
  struct Seen {
    bool under_way = false;  // there is an order that some rank works on
    std::uint64_t working = 0;
    Tally all;  // of all ranks
  };
  struct Hooks {
    std::function<std::string(const Order&)> work{};      // not rank 0; in a thread of its own: returns the report
    std::function<Tally()> tally{};                       // of this rank, now
    std::function<void(const Seen&)> on_round{};          // on the main thread
    std::function<std::string()> take_news{};             // for the other ranks; empty: none
    std::function<void(const std::string&)> hear_news{};  // of another rank
  };

  // Collective. A request through `caller` on any rank stops them all.
  Rounds(Comm& comm, const std::stop_token& caller);

  // Collective, main thread. Until rank 0 has called end(). Throws Error{nodes} when a rank is silent; rank 0's flow
  // waits no longer then.
  void serve(const Hooks& hooks);

  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }  // of the whole job
  [[nodiscard]] std::stop_token halt() const;                               // of this order, and of the job
  void halt_all();  // this order is not worth going on: all ranks end it

  // --- rank 0, any thread but the main one
  void order(std::string all, std::vector<std::string> each);  // returns when all ranks have it
  [[nodiscard]] std::vector<std::string> reports();            // rank 0 has done its part; waits for the others
  void end();

 private:
  static constexpr std::chrono::milliseconds rest_max{100};
  struct Words {  // what a round adds up
    std::uint64_t stopped = 0, halted = 0, ordered = 0, done = 0, ended = 0, news = 0;
    Tally tally;
  };
  bool round(const Hooks& hooks);  // false: the last
  [[nodiscard]] Words words_of_this_rank(const Hooks& hooks);
  void begin(const Hooks& hooks);
  void collect();
  void tell_news(const Hooks& hooks);
  void rest();
  void wake();
  void break_off();

  Comm& comm_;
  std::stop_source stop_;
  Heartbeat heart_;  // main thread's, as are the next four
  std::jthread worker_;
  bool under_way_ = false, begins_ = false;
  std::string news_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::stop_source halt_;
  std::optional<std::pair<std::string, std::vector<std::string>>> ordered_;
  std::optional<std::vector<std::string>> reports_;
  std::string report_;
  bool begun_ = false, done_ = false, halted_ = false, ended_ = false, broken_ = false, awake_ = false;

  std::stop_callback<std::function<void()>> on_caller_, on_stop_;  // last: they use all the others
};

}  // namespace sabath
