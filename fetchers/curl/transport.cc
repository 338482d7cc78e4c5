#include "curl/transport.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>

#include "curl/authorization.h"
#include "curl/failure.h"
#include "curl/handle.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint64_t head_bytes_max = 1024 * 1024;

// What the callbacks of one transfer share with the loop that drives it.
struct Transfer {
  Receiver& receiver;
  Traffic& traffic;
  const std::stop_token& stop;
  const std::string source;      // its name, for messages
  std::uint64_t head_bytes = 0;  // of all heads and the trailer
  std::exception_ptr thrown{};
  bool enough = false;
  bool connected = false;
  Clock::time_point last_progress{};  // once connected; time spent in the receiver is not the peer's

  [[nodiscard]] bool ended() const { return enough || thrown || stop.stop_requested(); }

  template <typename F>
  void guard(F&& hear) noexcept {
    try {
      hear();
    } catch (...) {
      thrown = std::current_exception();
    }
    last_progress = Clock::now();
  }
};

int on_connected(void* self, char* address, char*, int, int) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.connected = true;
  transfer.guard([&] { transfer.receiver.connected(address != nullptr ? address : ""); });
  if (transfer.ended()) return CURL_PREREQFUNC_ABORT;
  ++transfer.traffic.requests;
  return CURL_PREREQFUNC_OK;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  transfer.head_bytes += size;
  transfer.guard([&] {
    if (transfer.head_bytes > head_bytes_max) {
      throw Error(FailureKind::unavailable, "cannot read " + transfer.source + ": its head, or its trailer, has no end",
                  "the server is broken or hostile; use another mirror");
    }
    transfer.receiver.header(line);
  });
  return transfer.thrown ? 0 : size;
}

// To end a transfer the callback pauses it, and the loop takes it out: whatever the protocol, nothing waits for the
// peer then (an FTP transfer that ends by a write error waits a minute for the last word of a stalled server).
std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (transfer.ended()) return CURL_WRITEFUNC_PAUSE;
  transfer.traffic.bytes += size;
  transfer.guard([&] { transfer.enough = !transfer.receiver.body(std::as_bytes(std::span(data, size))); });
  return transfer.ended() ? CURL_WRITEFUNC_PAUSE : size;
}

class HeaderList {
 public:
  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(list_.release());
    list_.reset(longer);
  }
  [[nodiscard]] curl_slist* get() const noexcept { return list_.get(); }

 private:
  struct Free {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
  };
  std::unique_ptr<curl_slist, Free> list_;
};

// The easy handle's place in its multi handle. Leaving before the end closes the connection, and waits for nobody.
class Attachment {
 public:
  explicit Attachment(const Handle& handle) : handle_(handle) { curl_multi_add_handle(handle.multi(), handle.easy()); }
  ~Attachment() { curl_multi_remove_handle(handle_.multi(), handle_.easy()); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

 private:
  const Handle& handle_;
};

void set_request(CURL* easy, const TransferRequest& request, const HeaderList& headers,
                 const FetcherSettings& settings) {
  curl_easy_setopt(easy, CURLOPT_URL, request.url.text().c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, request.url.scheme().c_str());
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   CURL_HTTP_VERSION_1_1);  // one stream a connection: h2 would gain nothing
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);  // what was checked and signed is what is sent
  curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, settings.user_agent.c_str());
  if (!settings.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, settings.ca_file.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, settings.connect_timeout_ms);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 512L * 1024);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for a name that is being looked up
#endif
  if (!request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());  // not copied: it outlives the transfer
  }
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (!request.method.empty())
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(easy, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(request.resume_from));
  curl_easy_setopt(easy, CURLOPT_FTP_FILEMETHOD, CURLFTPMETHOD_NOCWD);
  if (request.url.scheme() == "ftps")  // else a server that refuses PROT P is read in clear
    curl_easy_setopt(easy, CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL));
  curl_easy_setopt(easy, CURLOPT_FILETIME, 1L);
  curl_easy_setopt(easy, CURLOPT_FAILONERROR,
                   request.url.scheme().starts_with("ftp") ? 1L : 0L);  // FTP through an HTTP proxy
}

void set_callbacks(CURL* easy, Transfer& transfer, char* error_text) {
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
}

// Runs the transfer until it is done (its result), or ended by us or stalled (nullopt).
std::optional<CURLcode> drive(const Handle& handle, const Transfer& transfer, milliseconds stall_timeout) {
  const std::stop_callback wake(transfer.stop, [multi = handle.multi()] { curl_multi_wakeup(multi); });
  int running = 1;
  while (!transfer.ended()) {
    if (curl_multi_perform(handle.multi(), &running) != CURLM_OK) return CURLE_OUT_OF_MEMORY;
    if (running == 0) break;
    if (transfer.ended()) return std::nullopt;
    milliseconds wait{1000};
    if (transfer.connected) {
      const auto left = stall_timeout - std::chrono::duration_cast<milliseconds>(Clock::now() - transfer.last_progress);
      if (left <= milliseconds{0}) return std::nullopt;
      wait = std::min(wait, left);
    }
    if (curl_multi_poll(handle.multi(), nullptr, 0, static_cast<int>(wait.count()), nullptr) != CURLM_OK) {
      return CURLE_OUT_OF_MEMORY;
    }
  }
  int left = 0;
  const CURLMsg* message = curl_multi_info_read(handle.multi(), &left);
  if (message == nullptr) return std::nullopt;
  return message->data.result;
}

}  // namespace

struct Transport::State {
  FetcherSettings settings;
  Authorizations authorizations{settings.web};
  HandlePool pool{};
};

Transport::Transport(const FetcherSettings& settings) : state_(new State{settings}) {}
Transport::~Transport() = default;

std::optional<Secret> Transport::authorization(const Url& url) { return state_->authorizations.header_for(url); }

const std::vector<std::string>& Transport::near_hosts() const noexcept { return state_->settings.web.near_hosts; }

std::optional<Failure> Transport::perform(const TransferRequest& request, Receiver& receiver, Traffic& traffic,
                                          std::stop_token stop) {
  const FetcherSettings& settings = state_->settings;
  const std::string origin = request.url.origin();
  Handle handle = state_->pool.take(origin);
  HeaderList headers;
  for (const std::string& line : request.headers) headers.add(line);
  std::array<char, CURL_ERROR_SIZE> error_text{};
  Transfer transfer{receiver, traffic, stop, request.url.display()};
  curl_easy_reset(handle.easy());
  set_request(handle.easy(), request, headers, settings);
  set_callbacks(handle.easy(), transfer, error_text.data());

  std::optional<CURLcode> code;
  {
    const Attachment attachment(handle);
    code = drive(handle, transfer, milliseconds(settings.stall_timeout_ms));
  }
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  if (code == CURLE_OK || transfer.enough) {
    state_->pool.give(origin, std::move(handle));
    return std::nullopt;
  }
  const std::string what = "cannot read " + request.url.display();
  if (stop.stop_requested()) return Failure{FailureKind::interrupted, what + ": stopped", "", std::nullopt};
  if (code) return failure_of(*code, handle.easy(), error_text.data(), request.url);
  return Failure{FailureKind::network,
                 fmt::format("{}: no byte for {} s", what,
                             std::chrono::duration<double>(milliseconds(settings.stall_timeout_ms)).count()),
                 "the server or the path to it is stuck; another mirror may do better", std::nullopt};
}

std::optional<std::time_t> parse_http_date(const std::string& text) {
  const std::time_t time = curl_getdate(text.c_str(), nullptr);
  if (time == -1) return std::nullopt;
  return time;
}

}  // namespace sabath
