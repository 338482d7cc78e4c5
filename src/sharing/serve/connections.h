// The open connections of a server, and the deadlines that its HTTP library does not have: a client may neither trickle
// its request, nor take an answer so slowly that it holds a place for nothing.
//
// A connection is known by its socket, from the moment it is accepted until just before it is closed; within that time
// it may be shut down from here. All functions may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace sabath {

struct ConnectionDeadlines {
  std::chrono::milliseconds request{60'000};  // from one answer, or the beginning, to the end of the next request
  std::chrono::milliseconds window{60'000};   // within each of these a client takes at least ...
  std::uint64_t window_bytes = 64 * 1024;     // ... this many bytes of an answer
};

// How many clients are served at once. Who says nothing holds a place only until another one wants it.
struct ConnectionPlaces {
  unsigned all = 256;
  unsigned of_address = 128;  // of IPv6: of the first 64 bits
};

class Connections {
 public:
  Connections(const ConnectionPlaces& places, const ConnectionDeadlines& deadlines, bool tls);
  ~Connections() = default;
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // How a connection ended that no answer was on its way to.
  enum class Rest {
    nothing,  // each request was answered
    broken,   // bytes came that were no whole request
    silent,   // it was put out, because no whole request came in time, or before another client wanted its place
  };
  struct Closed {
    Rest rest = Rest::nothing;
    std::string client;
    std::chrono::duration<double> waited{0};
  };

  // Before a client is accepted. Where no place is free, one that waits for a request is put out: of those that never
  // asked for what they may have the oldest, of the address that holds most of them; then of the others the oldest. A
  // new client has half a second to ask. While all are being answered, this waits, so that clients wait in the kernel's
  // queue. False: there is no place for it.
  [[nodiscard]] bool make_place(std::string_view client);
  void close();  // there are no more places to wait for
  void opened(int socket, std::string client);
  Closed closed(int socket);
  void known(int socket);      // it has asked for what it may have
  void working(int socket);    // the request was read: the client need not send anything
  void answering(int socket);  // the answer is on its way
  void waiting(int socket);    // the answer has left: the next request may come
  // Bytes of the answer on its way, its head included, that the client has acknowledged.
  [[nodiscard]] std::uint64_t acknowledged(int socket) const;
  // Waits until no request is worked on or answered; false when time is up.
  [[nodiscard]] bool wait_until_idle(std::chrono::milliseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { waiting, working, answering };
  struct Connection {
    Phase phase = Phase::waiting;
    Clock::time_point opened{};
    Clock::time_point since{};   // of the phase, or of the window
    std::string client{};        // address:port
    std::uint64_t received = 0;  // bytes, up to the last whole request
    std::string address{};       // without the port
    bool known = false;
    bool late = false;               // put out while it waited: its place is free
    std::uint64_t acked_before = 0;  // when the answer began
    std::uint64_t acked_window = 0;  // when the window began
    // Since when it holds its place for nothing: an answer that refuses makes no stranger younger.
    [[nodiscard]] Clock::time_point idle_since() const { return known ? since : opened; }
  };
  using Among = std::function<bool(const Connection&)>;
  void enter(int socket, Phase phase);
  // The mutex is held.
  [[nodiscard]] unsigned count(const Among& among) const;
  [[nodiscard]] bool put_out(const Among& among, std::chrono::milliseconds age_min);
  void sweep(std::stop_token stop);
  [[nodiscard]] bool is_late(int socket, Connection& connection) const;

  const ConnectionPlaces places_;
  const ConnectionDeadlines deadlines_;
  const std::uint64_t farewell_;  // bytes that end a connection and ask for nothing
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int, Connection> connections_;
  bool open_ = true;
  std::jthread sweeper_;  // last: it uses the others
};

}  // namespace sabath
