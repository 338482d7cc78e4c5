// One libcurl easy handle together with the multi handle that drives it and keeps its connections, and a pool of
// idle ones. The pair gives a blocking transfer that another thread can wake. Only files of this folder include it.
//
// A Handle is used by one thread at a time; the pool by any. Throws Error{internal} when libcurl cannot start.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sabath {

struct FreeEasy {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using Multi = std::unique_ptr<CURLM, FreeMulti>;
[[nodiscard]] Easy make_easy();
[[nodiscard]] Multi make_multi();

class Handle {
 public:
  Handle();
  [[nodiscard]] CURL* easy() const noexcept { return easy_.get(); }
  [[nodiscard]] CURLM* multi() const noexcept { return multi_.get(); }

 private:
  Multi multi_;  // outlives the easy handle: it owns the connections
  Easy easy_;
};

// Easy handles whose connections are another's.
class EasyPool {
 public:
  [[nodiscard]] Easy take();  // without options
  void give(Easy easy);

 private:
  std::mutex mutex_;
  std::vector<Easy> idle_;
};

// Idle handles, most recently used first, because that one's connection is the likeliest to be alive.
class HandlePool {
 public:
  [[nodiscard]] Handle take(const std::string& origin);
  void give(std::string origin, Handle handle);

 private:
  static constexpr std::size_t idle_max = 64;
  struct Idle {
    std::string origin;
    Handle handle;
  };
  [[nodiscard]] std::optional<Handle> try_take(const std::string& origin);
  std::mutex mutex_;
  std::vector<Idle> idle_;  // newest last
};

}  // namespace sabath
