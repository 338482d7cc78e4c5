// How many connections one host is given: grown while the bytes a second grow, taken back when they do not. Decisions
// only, in any kind of time; one object for each host. The caller has a mutex.
#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <string>

namespace sabath {

class ConnectionPolicy {
 public:
  struct Limits {
    unsigned start = 8, max = 16;
    unsigned sole_max = 0;           // of large files that are nowhere else, if that is more
    bool by_login = false;           // each connection costs one, and is quick only after a while
    bool by_program = false;         // each request is the start of one: that takes long, and tells nothing of distance
    unsigned near_max = UINT_MAX;    // of a host that is not far away, where each keeps a core busy
    unsigned near_start = UINT_MAX;  // and so, at first, of large files
  };
  explicit ConnectionPolicy(Limits limits);

  // Of requests: many, each for a small file; and they share connections, so that what is said of these here is said of
  // requests.
  struct Manner {
    bool many = false, shared = false;
  };
  // The observations so far: bytes received from this host and from all, connections in use, and the shortest time
  // from a request to its first byte (0: none came yet). True: the target changed, and reason() says why.
  struct Seen {
    double now = 0;  // seconds
    std::uint64_t bytes = 0, bytes_of_all = 0;
    unsigned in_use = 0;
    double latency = 0;  // seconds
    Manner manner{};
    double connecting = 0;   // when the first connection began to be opened; 0: none did, or its fetcher does not say
    double trip = 0;         // seconds that a connection took; 0: none stands yet, or its fetcher does not say
    bool held_back = false;  // since the last time a lane waited for our own work, not for the host
    bool sole = false;       // no other host is asked for anything
    std::optional<double> idle{};  // seconds that a core of ours was idle, on average, since some time; if known
  };
  bool observe(const Seen& seen);
  bool crowded(double now, unsigned in_use);  // the host has too many of us: 429, 503, 421, Host::left_out()
  [[nodiscard]] unsigned target() const { return target_; }
  [[nodiscard]] bool by_login() const { return limits_.by_login; }
  [[nodiscard]] bool by_program() const { return limits_.by_program; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  enum class Phase : std::uint8_t { starting, growing, holding, probing };
  [[nodiscard]] bool at_once() const { return !limits_.by_login && !limits_.by_program; }
  bool hear_silence(const Seen& seen);
  void open_window(const Seen& seen);
  bool move_to(unsigned target, const char* why, double rate, double rate_of_all);
  bool judge(double rate, double rate_of_all, const Seen& seen);
  [[nodiscard]] const char* our_limit(const Seen& seen) const;
  [[nodiscard]] bool sole(const Seen& seen) const;  // large files come from this host alone
  [[nodiscard]] unsigned far_start(double distance) const;
  [[nodiscard]] unsigned far_start_for(double distance, const Seen& seen);
  [[nodiscard]] unsigned near_start(Manner manner) const;
  void hold(double now);

  Limits limits_;
  Phase phase_ = Phase::starting;
  unsigned most_ = 0;                            // connections that may be
  unsigned target_, before_ = 0;                 // connections: now, and before the last change
  double base_rate_ = 0, base_rate_of_all_ = 0;  // measured before the last change
  double seen_rate_ = 0;                         // in the last window since
  Seen window_;
  bool placed_ = false;  // how far it is was heard from its first connection
  bool window_open_ = false, held_back_ = false, settled_ = false, many_ = false, shared_ = false;
  double hold_until_ = 0, hold_for_, crowded_until_ = 0;
  std::string reason_;
};

}  // namespace sabath
