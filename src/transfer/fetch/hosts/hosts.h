// The state of each host while a job runs: how many connections it is given, how quick it is, and whether it asked
// for a pause. One table for all files of a job: all of them that come from a host share its entry. Thread-safe; hosts
// live as long as the table.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "fetch/decide/connections.h"
#include "fetch/decide/part_manners.h"
#include "fetch/decide/schedule.h"
#include "fetch/hosts/rate_limit.h"
#include "sabath/event.h"
#include "sabath/host_rule.h"

namespace sabath {

class Hosts;

class Host {
 public:
  using Clock = std::chrono::steady_clock;
  Host(Hosts& table, std::string origin, ConnectionPolicy::Limits limits)
      : table_(table), origin_(std::move(origin)), policy_(limits) {}

  [[nodiscard]] bool try_connect();  // takes a connection if one is free and the host is not in a pause
  [[nodiscard]] bool open() const;   // try_connect() would succeed now
  void disconnect();                 // gives it back
  void disconnect_unused();          // the same, but wakes no lane to look for work
  void received(std::uint64_t bytes, const std::stop_token& stop);  // waits until `bytes` may come, or for a stop
  void connecting();  // a connection begins to be opened; connected(): it is open, `trip` is a round trip
  void connected(std::chrono::duration<double> trip);
  // From a request to its first byte, and from the start of what may have needed a connection first.
  void answered(std::chrono::duration<double> latency, std::chrono::duration<double> waited,
                ConnectionPolicy::Manner manner);
  void held_back() { held_back_ = true; }  // what came of it had to wait for us
  // Retry-After and the like: for every lane, file and rank. `crowded`: it has too many of us.
  void pause_until(Clock::time_point time, bool crowded);
  // A request failed without a reason from the host. Once, or while nothing comes of it, that is a hiccup; again, while
  // others are served, it has too many of us: some servers refuse without a word.
  void left_out();
  [[nodiscard]] Clock::time_point paused_until() const;
  [[nodiscard]] unsigned in_use() const;
  [[nodiscard]] unsigned places() const;        // connections that it is given now; more may be in use
  [[nodiscard]] double rate() const;            // bytes a second over the last while; 0: not known yet
  [[nodiscard]] Schedule::Speed speed() const;  // of one more lane
  [[nodiscard]] std::uint64_t bytes_received() const { return bytes_; }
  [[nodiscard]] bool limited() const { return limiter_.limits(); }
  [[nodiscard]] bool by_login() const;    // each connection costs one
  [[nodiscard]] bool by_program() const;  // each request is the start of one
  PartManners parts;

 private:
  friend class Hosts;
  // Both under the table's mutex, too:
  [[nodiscard]] unsigned target() const;
  [[nodiscard]] bool near() const { return latency_ > 0 && latency_ < far_s; }
  Hosts& table_;
  const std::string origin_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> held_back_{false};
  RateLimiter limiter_{0};
  // Under the table's mutex:
  ConnectionPolicy policy_;
  unsigned in_use_ = 0, connections_max_ = UINT_MAX;
  ConnectionPolicy::Manner manner_;
  double connecting_ = 0, trip_ = 0, latency_ = 0, login_ = 0, rate_ = 0, rate_time_ = 0;
  std::uint64_t rate_bytes_ = 0, left_out_bytes_ = 0;
  Clock::time_point paused_until_{}, left_out_at_{};
};

class Hosts {
 public:
  // `lanes_max`: connections of all hosts and all ranks together; 0: as many as help, within reason. `ranks` have a
  // table each, and share what a host may be asked for.
  explicit Hosts(unsigned lanes_max, unsigned ranks = 1) : Hosts(lanes_max, ranks, {}) {}
  Hosts(unsigned lanes_max, unsigned ranks, const std::vector<HostRule>& rules);
  // `by_program`: another program asks it, by one run for each request.
  [[nodiscard]] Host& of(const std::string& origin, bool by_program = false);
  void add_rule(const HostRule& rule);  // what several say of a host is kept by all
  [[nodiscard]] std::vector<HostRule> rules() const;
  // Notes that a source gave right or wrong bytes of some content, `subject`; wrong ones outweigh right ones. All ranks
  // of a job hear of it.
  enum class Word : std::uint8_t { none, right, wrong };
  void judge(const Host& host, const std::string& subject, Word word);
  [[nodiscard]] Word judged(const std::string& subject) const;
  [[nodiscard]] unsigned wrong_words() const { return wrong_words_; }  // their number so far: when it grows, look again
  // Its bytes were wrong more often than once in a while: for every file, other hosts are asked first.
  [[nodiscard]] bool suspect(const Host& host) const;
  // Looks at what came since the last time; a reason for each host whose connections change. Every 50 ms or so.
  [[nodiscard]] std::vector<std::string> tick();
  // The pauses of a second and more that hosts, or other ranks' hosts, asked for since the last call.
  [[nodiscard]] std::vector<event::HostPaused> take_pauses();
  // This process did, a moment ago, by the time between two ticks: what a host has sent was not looked at.
  [[nodiscard]] bool stood_still() const;
  [[nodiscard]] unsigned connections() const;  // that all hosts would take now, lanes_max at most
  // The pauses that hosts of this table asked for since the last call, for the tables of other ranks; empty: none.
  [[nodiscard]] std::string take_news();
  void hear_news(const std::string& news);
  // Waits until a connection may be free, some host's pause is over, or `most` has passed.
  void wait(std::chrono::milliseconds most);
  void wake();

 private:
  friend class Host;
  using Clock = Host::Clock;
  [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  struct Pause {
    Clock::time_point until;
    bool crowded = false;
  };
  void keep_rules(Host& host) const;
  void pause(Host& host, const Pause& pause);
  [[nodiscard]] ConnectionPolicy::Limits limits_of(std::string_view origin, bool by_program) const;
  const unsigned lanes_max_;  // of this rank
  const ConnectionPolicy::Limits each_;
  const unsigned ranks_;
  const Clock::time_point begin_ = Clock::now();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  unsigned in_use_ = 0;
  double ticked_ = 0, attended_since_ = 0;  // seconds
  std::deque<Host> hosts_;
  std::map<std::string, Host*> by_origin_;
  std::vector<HostRule> rules_;
  struct Judgement {
    std::string origin;
    Word word = Word::none;
  };
  void make_room_to_judge();                                          // the mutex is held
  void take(const std::string& subject, const Judgement& judgement);  // the mutex is held
  std::map<std::string, Word> judged_;                                // by subject
  std::map<std::string, Judgement> untold_;                           // to the other ranks
  std::map<std::string, std::uint64_t> lies_;                         // by origin
  std::atomic<unsigned> wrong_words_{0};
  std::map<std::string, Pause> news_, heard_;  // by origin; heard of a host that is not used here, yet
  std::vector<std::string> notes_;             // for tick()
  std::vector<event::HostPaused> pauses_;
};

}  // namespace sabath
