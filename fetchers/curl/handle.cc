#include "curl/handle.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::string_view head_end = "\r\n\r\n";

// libcurl's own process-wide state: made by the first handle, never torn down, because lanes may outlive main's
// statics.
void ensure_curl_global() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) {
    throw Error(FailureKind::internal, std::string("cannot start libcurl: ") + curl_easy_strerror(code));
  }
}

template <typename Owner>
Owner made(Owner handle) {
  if (!handle) throw Error(FailureKind::internal, "cannot make a libcurl handle: out of memory or descriptors");
  return handle;
}

// Bytes that wait in the socket, without the head of an answer of which nothing was read yet.
std::uint64_t unread_body_bytes(curl_socket_t socket) {
  int bytes = 0;
  if (ioctl(socket, FIONREAD, &bytes) != 0 || bytes <= 0) return 0;
  const auto all = static_cast<std::size_t>(bytes);
  std::array<char, 16 << 10> front{};
  const ssize_t seen = recv(socket, front.data(), std::min(all, front.size()), MSG_PEEK | MSG_DONTWAIT);
  const std::string_view text(front.data(), seen > 0 ? static_cast<std::size_t>(seen) : 0);
  if (!text.starts_with("HTTP/1.")) return all;
  const auto end = text.find(head_end);
  return end == std::string_view::npos ? all - text.size() : all - end - head_end.size();
}

}  // namespace

Multi make_multi() {
  ensure_curl_global();
  return made(Multi(curl_multi_init()));
}

Names::Names() : share_((ensure_curl_global(), curl_share_init())) {
  if (!share_) throw std::bad_alloc();
  curl_share_setopt(share_.get(), CURLSHOPT_LOCKFUNC, lock);
  curl_share_setopt(share_.get(), CURLSHOPT_UNLOCKFUNC, unlock);
  curl_share_setopt(share_.get(), CURLSHOPT_USERDATA, this);
  curl_share_setopt(share_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
}

void Names::lock(CURL*, curl_lock_data data, curl_lock_access, void* self) {
  static_cast<Names*>(self)->mutexes_.at(data).lock();
}

void Names::unlock(CURL*, curl_lock_data data, void* self) { static_cast<Names*>(self)->mutexes_.at(data).unlock(); }

Easy Names::make_easy() const {
  Easy easy = made(Easy(curl_easy_init()));
  curl_easy_setopt(easy.get(), CURLOPT_SHARE, share_.get());
  return easy;
}

Handle::Handle(const Names& names) : multi_(make_multi()), easy_(names.make_easy()) {
  curl_multi_setopt(multi(), CURLMOPT_MAXCONNECTS, 1L);  // one transfer at a time needs one kept connection
}

void Handle::clear() noexcept {
  reset(easy());
  curl_easy_setopt(easy(), CURLOPT_CLOSESOCKETFUNCTION, close_socket);
  curl_easy_setopt(easy(), CURLOPT_CLOSESOCKETDATA, unread_.get());
}

int Handle::close_socket(void* unread, curl_socket_t socket) {
  *static_cast<std::uint64_t*>(unread) += unread_body_bytes(socket);
  return ::close(socket);
}

Easy EasyPool::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return names_.make_easy();
  Easy easy = std::move(idle_.back());
  idle_.pop_back();
  reset(easy.get());
  return easy;
}

void EasyPool::give(Easy easy) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(easy));
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
  return handle ? *std::move(handle) : Handle(names_);
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
