#include "curl/transport.h"

#include <fmt/core.h>

#include <chrono>
#include <exception>

#include "curl/authorization.h"
#include "curl/failure.h"
#include "curl/handle.h"
#include "curl/mailbox.h"
#include "curl/streams.h"
#include "curl/transfer.h"

namespace sabath {
namespace {

using std::chrono::milliseconds;

// The easy handle's place in its multi handle. Leaving before the end closes the connection without waiting.
class Attachment {
 public:
  explicit Attachment(const Handle& handle) : handle_(handle) { curl_multi_add_handle(handle.multi(), handle.easy()); }
  ~Attachment() { curl_multi_remove_handle(handle_.multi(), handle_.easy()); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

 private:
  const Handle& handle_;
};

// Runs the transfer until it is done (its result), or ended by us or stalled (nullopt).
std::optional<CURLcode> drive(const Handle& handle, const Transfer& transfer) {
  const std::stop_callback wake(transfer.stop, [multi = handle.multi()] { curl_multi_wakeup(multi); });
  int running = 1;
  while (!transfer.ended()) {
    if (curl_multi_perform(handle.multi(), &running) != CURLM_OK) return CURLE_OUT_OF_MEMORY;
    if (running == 0) break;
    if (transfer.ended()) return std::nullopt;
    const milliseconds wait = transfer.patience();
    if (wait <= milliseconds{0}) return std::nullopt;
    if (curl_multi_poll(handle.multi(), nullptr, 0, static_cast<int>(wait.count()), nullptr) != CURLM_OK) {
      return CURLE_OUT_OF_MEMORY;
    }
  }
  int left = 0;
  const CURLMsg* message = curl_multi_info_read(handle.multi(), &left);
  if (message == nullptr) return std::nullopt;
  return message->data.result;
}

// The failure of a transfer that is over; nullopt: none. Throws what its receiver threw.
std::optional<Failure> failure_of(const Transfer& transfer, std::optional<CURLcode> code, CURL* easy) {
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  if (code == CURLE_OK || transfer.enough) return std::nullopt;
  const std::string what = "cannot read " + transfer.source;
  if (transfer.stop.stop_requested()) return Failure{FailureKind::interrupted, what + ": stopped", "", std::nullopt};
  if (code) return failure_of(*code, easy, transfer.error_text.data(), transfer.request.url);
  return Failure{
      FailureKind::network,
      fmt::format("{}: no byte for {} s", what, std::chrono::duration<double>(transfer.stall_timeout).count()),
      "the server or the path to it is stuck; another mirror may do better", std::nullopt};
}

// A failure that sharing may cause: the server ended the connection while requests were on their way to it.
bool worth_asking_alone(std::optional<CURLcode> code) {
  return code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
         code == CURLE_GOT_NOTHING;
}

}  // namespace

struct Transport::State {
  FetcherSettings settings;
  Authorizations authorizations{settings.web};
  Names names{};
  HandlePool pool{names};
  EasyPool easies{names};
  Streams streams{};

  std::optional<Failure> perform(const TransferRequest& request, Receiver& receiver, Traffic& traffic,
                                 const std::stop_token& stop);
  std::optional<Failure> perform_shared(const TransferRequest& request, Receiver& receiver, Traffic& traffic,
                                        const std::stop_token& stop);
};

Transport::Transport(const FetcherSettings& settings) : state_(new State{settings}) {}
Transport::~Transport() = default;

std::optional<Secret> Transport::authorization(const Url& url) { return state_->authorizations.header_for(url); }

std::optional<Failure> Transport::perform(const TransferRequest& request, Receiver& receiver, Traffic& traffic,
                                          std::stop_token stop) {
  const bool shared = request.one_of_many && state_->streams.serves(request.url);
  return shared ? state_->perform_shared(request, receiver, traffic, stop)
                : state_->perform(request, receiver, traffic, stop);
}

std::optional<Failure> Transport::State::perform(const TransferRequest& request, Receiver& receiver, Traffic& traffic,
                                                 const std::stop_token& stop) {
  const std::string origin = request.url.origin();
  Handle handle = pool.take(origin);
  Transfer transfer(request, receiver, traffic, stop);
  handle.clear();
  transfer.prepare(handle.easy(), settings, false);
  std::optional<CURLcode> code;
  {
    const Attachment attachment(handle);
    code = drive(handle, transfer);
  }
  const std::uint64_t unread = handle.take_unread();
  transfer.count_rest(request.url.scheme().starts_with("ftp") ? 0 : unread);  // there it is the words of the server
  transfer.take_cookies();
  auto failure = failure_of(transfer, code, handle.easy());
  if (!failure) pool.give(origin, std::move(handle));
  return failure;
}

std::optional<Failure> Transport::State::perform_shared(const TransferRequest& request, Receiver& receiver,
                                                        Traffic& traffic, const std::stop_token& stop) {
  Easy easy = easies.take();
  Mailbox mailbox(receiver);
  Transfer transfer(request, mailbox, traffic, stop);
  transfer.prepare(easy.get(), settings, true);
  const auto code = streams.run(transfer, mailbox);
  if (!transfer.thrown && worth_asking_alone(code) && mailbox.nothing_heard()) {
    return perform(request, receiver, traffic, stop);
  }
  transfer.take_cookies();
  auto failure = mailbox.has_enough() ? std::nullopt : failure_of(transfer, code, easy.get());
  if (!failure) easies.give(std::move(easy));
  return failure;
}

std::optional<std::time_t> parse_http_date(const std::string& text) {
  const std::time_t time = curl_getdate(text.c_str(), nullptr);
  if (time == -1) return std::nullopt;
  return time;
}

}  // namespace sabath
