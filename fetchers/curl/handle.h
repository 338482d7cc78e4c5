// One libcurl easy handle together with the multi handle that drives it and keeps its connections, and a pool of
// idle ones. The pair gives a blocking transfer that another thread can wake. Only files of this folder include it.
//
// A Handle is used by one thread at a time; the pool by any. Throws Error{internal} when libcurl cannot start.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

// libcurl keeps cookies over a reset, and loses the list of their files.
inline void forget_cookies(CURL* easy) noexcept { curl_easy_setopt(easy, CURLOPT_COOKIEFILE, nullptr); }

inline void reset(CURL* easy) noexcept {
  forget_cookies(easy);
  curl_easy_reset(easy);
}

struct FreeEasy {
  void operator()(CURL* easy) const noexcept {
    forget_cookies(easy);
    curl_easy_cleanup(easy);
  }
};
struct FreeMulti {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct FreeShare {
  void operator()(CURLSH* share) const noexcept { curl_share_cleanup(share); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using Multi = std::unique_ptr<CURLM, FreeMulti>;
[[nodiscard]] Multi make_multi();

// Names that were looked up, for all handles of a pool: else each connection to a host asks the resolver anew. Outlives
// them; used by any number of threads.
class Names {
 public:
  Names();
  [[nodiscard]] Easy make_easy() const;  // that uses them, and still does after curl_easy_reset()

 private:
  static void lock(CURL* easy, curl_lock_data data, curl_lock_access access, void* self);
  static void unlock(CURL* easy, curl_lock_data data, void* self);
  std::array<std::mutex, CURL_LOCK_DATA_LAST> mutexes_;  // of the share itself, of names
  std::unique_ptr<CURLSH, FreeShare> share_;
};

class Handle {
 public:
  explicit Handle(const Names& names);
  [[nodiscard]] CURL* easy() const noexcept { return easy_.get(); }
  [[nodiscard]] CURLM* multi() const noexcept { return multi_.get(); }
  void clear() noexcept;  // takes all options away
  // Bytes that had come for connections closed since the last call, and that libcurl had not read.
  [[nodiscard]] std::uint64_t take_unread() noexcept { return std::exchange(*unread_, 0); }

 private:
  static int close_socket(void* unread, curl_socket_t socket);
  std::unique_ptr<std::uint64_t> unread_ = std::make_unique<std::uint64_t>(0);  // connections know its address
  Multi multi_;  // outlives the easy handle: it owns the connections
  Easy easy_;
};

// Easy handles whose connections are another's.
class EasyPool {
 public:
  explicit EasyPool(const Names& names) : names_(names) {}
  [[nodiscard]] Easy take();  // without options
  void give(Easy easy);

 private:
  const Names& names_;
  std::mutex mutex_;
  std::vector<Easy> idle_;
};

// Idle handles, most recently used first, because that one's connection is the likeliest to be alive.
class HandlePool {
 public:
  explicit HandlePool(const Names& names) : names_(names) {}
  [[nodiscard]] Handle take(const std::string& origin);
  void give(std::string origin, Handle handle);

 private:
  static constexpr std::size_t idle_max = 64;
  struct Idle {
    std::string origin;
    Handle handle;
  };
  [[nodiscard]] std::optional<Handle> try_take(const std::string& origin);
  const Names& names_;
  std::mutex mutex_;
  std::vector<Idle> idle_;  // newest last
};

}  // namespace sabath
