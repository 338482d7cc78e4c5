#include "curl/handle.h"

#include <algorithm>
#include <utility>

#include "sabath/error.h"

namespace sabath {
namespace {

// libcurl's own process-wide state: made by the first handle, never torn down, because lanes may outlive main's
// statics.
void ensure_curl_global() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) {
    throw Error(FailureKind::internal, std::string("cannot start libcurl: ") + curl_easy_strerror(code));
  }
}

}  // namespace

Handle::Handle() {
  ensure_curl_global();
  multi_.reset(curl_multi_init());
  easy_.reset(curl_easy_init());
  if (!multi_ || !easy_)
    throw Error(FailureKind::internal, "cannot make a libcurl handle: out of memory or descriptors");
  curl_multi_setopt(multi(), CURLMOPT_MAXCONNECTS, 1L);  // one transfer at a time needs one kept connection
}

std::optional<Handle> HandlePool::try_take(const std::string& origin) {
  const std::lock_guard lock(mutex_);
  const auto newest =
      std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& idle) { return idle.origin == origin; });
  if (newest == idle_.rend()) return std::nullopt;
  Handle handle = std::move(newest->handle);
  idle_.erase(std::next(newest).base());
  return handle;
}

Handle HandlePool::take(const std::string& origin) {
  std::optional<Handle> handle = try_take(origin);
  return handle ? *std::move(handle) : Handle();
}

void HandlePool::give(std::string origin, Handle handle) {
  std::optional<Idle> oldest;  // closed after the lock is gone: closing may talk to the peer
  const std::lock_guard lock(mutex_);
  if (idle_.size() >= idle_max) {
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  idle_.push_back({std::move(origin), std::move(handle)});
}

}  // namespace sabath
