// One transfer between libcurl, which calls back, and the Receiver that hears it. Only files of this folder include it.
#pragma once

#include <curl/curl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "curl/transport.h"

namespace sabath {

// Lines of a request's head, as libcurl wants them; throws std::bad_alloc.
class HeaderList {
 public:
  void add(const std::string& line);
  [[nodiscard]] curl_slist* get() const noexcept { return list_.get(); }

 private:
  struct Free {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
  };
  std::unique_ptr<curl_slist, Free> list_;
};

// The state that the callbacks of one transfer share with the loop that drives it. It is not moved; only the thread of
// that loop uses it, except for `cancelled`.
struct Transfer {
  using Clock = std::chrono::steady_clock;
  Transfer(const TransferRequest& asked, Receiver& hears, Traffic& counts, const std::stop_token& stops);

  // Sets all options of a handle that was reset. `shared`: it may be one of several streams of a connection.
  void prepare(CURL* handle, const FetcherSettings& settings, bool shared);
  [[nodiscard]] bool ended() const { return enough || thrown || cancelled || stop.stop_requested(); }
  // How long the peer may still say nothing; negative: it is stalled. Before there is a connection, or while we pause,
  // it is not its turn.
  [[nodiscard]] std::chrono::milliseconds patience() const;
  void resume();
  void take_cookies() const;  // once it is over
  void count(std::uint64_t bytes);
  // Counts, once it is over, the bytes that the receiver never heard: those that libcurl had read, and `unread`.
  void count_rest(std::uint64_t unread);
  // check_reach() of this request; behind a proxy no address is the host's. Empty: before the look-up.
  [[nodiscard]] Reach judge(std::string_view address) const;

  const TransferRequest& request;
  Receiver& receiver;
  Traffic& traffic;
  const std::stop_token& stop;
  const std::string source;  // its name, for messages
  CURL* easy = nullptr;
  HeaderList headers{};
  std::span<const std::string> near_hosts{};  // of the settings, which outlive it
  bool by_proxy = false;
  std::array<char, CURL_ERROR_SIZE> error_text{};
  std::chrono::milliseconds stall_timeout{};
  std::uint64_t head_bytes = 0;  // of all heads and the trailer
  std::string field{};           // a line of the head, which may go on
  std::uint64_t body_bytes = 0;  // counted so far
  std::exception_ptr thrown{};
  std::function<bool()> has_room{};  // asked before each piece: false pauses the transfer; empty: always
  bool paused = false;
  bool enough = false;
  bool connected = false;
  std::atomic<bool> cancelled{false};  // by the thread that waits for it
  Clock::time_point last_progress{};   // once connected; time spent in the receiver is not the peer's
};

}  // namespace sabath
