#include "sabath/verbs/serve.h"

#include <fmt/format.h>

#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/secret_file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "serve/server.h"
#include "verbs/assets/assets.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::size_t lines_max = 10'000;
constexpr unsigned connections_most = 10'000;
constexpr unsigned grace_seconds_most = 86'400;
constexpr std::chrono::milliseconds reload_pause{200};

// The log on its way from the server's threads to the one that serves. Beyond lines_max waiting lines, further ones are
// dropped and counted.
class RequestLog {
 public:
  void add(const AccessEntry& access) {
    const std::lock_guard lock(mutex_);
    ++(access.status == 0 ? unanswered_ : requests_);
    bytes_ += access.bytes;
    cut_ += access.ending == AccessEntry::Ending::cut ? 1 : 0;
    if (lines_.size() < lines_max)
      lines_.push_back(to_line(access) + "\n");
    else
      ++dropped_;
    news_.notify_one();
  }
  // Waits for lines; empty after a stop request, and when the patience has passed.
  std::string take(std::stop_token stop, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, std::move(stop), patience, [this] { return !lines_.empty(); });
    std::string text;
    for (const std::string& line : lines_) text += line;
    lines_.clear();
    return text;
  }
  void count(ServeRecord& record) const {
    const std::lock_guard lock(mutex_);
    record.requests = requests_;
    record.bytes = bytes_;
    record.cut = cut_;
    record.unanswered = unanswered_;
    record.lines_dropped = dropped_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any news_;
  std::deque<std::string> lines_;
  std::uint64_t requests_ = 0, bytes_ = 0, cut_ = 0, unanswered_ = 0, dropped_ = 0;
};

void place_of(const std::string& listen, ServeSettings& settings) {
  const auto colon = listen.rfind(':');
  std::string host = colon == std::string::npos ? "" : listen.substr(0, colon);
  const std::string digits = colon == std::string::npos ? listen : listen.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), settings.port);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw Error(FailureKind::usage, fmt::format("cannot listen at '{}'", printable(listen)),
                "write HOST:PORT, such as 127.0.0.1:7777 or [::1]:7777");
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!host.empty()) settings.host = host;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

void check_bounds(const ServeRequest& request) {
  if (request.connections > connections_most)
    throw Error(FailureKind::usage,
                fmt::format("{} connections are more than {}", request.connections, connections_most));
  if (request.grace_seconds > grace_seconds_most)
    throw Error(FailureKind::usage,
                fmt::format("a grace of {} s is not from 0 to {}", request.grace_seconds, grace_seconds_most));
}

ServeSettings serve_settings(const ServeRequest& request) {
  check_bounds(request);
  if (!request.allow.empty() && !request.hub)
    throw Error(FailureKind::usage, "repositories are allowed to be served, and nothing is served as a hub");
  ServeSettings settings;
  place_of(request.listen, settings);
  if (!request.token.empty()) settings.token = read_token_file(request.token);
  if (!request.certificate.empty()) {
    settings.certificate = try_read_text(request.certificate, 1024 * 1024).value_or("");
    if (settings.certificate.empty()) {
      throw Error(FailureKind::usage,
                  fmt::format("there is no certificate in {}", printable(request.certificate.native())));
    }
  }
  if (!request.key.empty()) settings.key = read_secret_file(request.key);
  settings.places.all = request.connections;
  settings.hub = request.hub;
  settings.allow = request.allow;
  settings.rate_max = request.limit_rate;
  if (!is_loopback(settings.host) && settings.token.empty() && !request.anonymous) {
    throw Error(FailureKind::usage, fmt::format("others can reach {}, and no token is asked for", settings.host),
                fmt::format("{} FILE asks for one; {} means that all who know a hash may read", option_text("token"),
                            option_text("anonymous")));
  }
  return settings;
}

Serving serving_of(const ServeSettings& settings, std::uint16_t port, const Store& store) {
  const bool v6 = settings.host.find(':') != std::string::npos;
  const bool tls = !settings.certificate.empty(), by_token = !settings.token.empty();
  return {
      .url = fmt::format("sabath{}://{}{}{}:{}", tls ? "+tls" : "", v6 ? "[" : "", settings.host, v6 ? "]" : "", port),
      .store = store.directory(),
      .by_token = by_token,
      .in_clear = by_token && !tls && !is_loopback(settings.host)};
}

// sabath://HOST:PORT -> http://HOST:PORT
std::string hub_endpoint_of(const std::string& url) {
  return (url.starts_with("sabath+tls") ? "https" : "http") + url.substr(url.find(':'));
}

// What cannot be used leaves the server as it is.
void reload(Server& server, const ServeRequest& request, EventSink& events) {
  std::optional<Failure> failure;
  try {
    const ServeSettings settings = serve_settings(request);
    server.renew(settings.token, settings.certificate, settings.key);
  } catch (const Error& error) {
    failure = error.failure();
  }
  if (request.on_reload)
    request.on_reload(failure);
  else if (failure)
    events.on(event::Warning{failure->message});
}

}  // namespace

ServeRecord serve(Session& session, const ServeRequest& request, EventSink& events, std::stop_token stop) {
  const auto store = try_open_store(session.settings());
  if (!store) {
    throw Error(FailureKind::usage, fmt::format("there is no store at {}", session.settings().store.string()),
                fmt::format("fetch something first, or name a store with {} DIR", option_text("store")));
  }
  const ServeSettings settings = serve_settings(request);
  RequestLog log;
  auto server = make_server(*store, settings, [&log](const AccessEntry& access) { log.add(access); });
  Serving serving = serving_of(settings, server->port(), *store);
  if (request.hub) serving.hub_endpoint = hub_endpoint_of(serving.url);
  serving.repositories = server->hub_repositories();
  if (request.on_start) request.on_start(serving);
  events.on(event::ServeStarted{serving.url, settings.host, server->port(), serving.store.string()});
  const auto tell_requests = [&] {
    const std::string lines = log.take(stop, request.reload_asked ? reload_pause : std::chrono::hours(1));
    if (lines.empty()) return;
    if (request.on_requests)
      request.on_requests(lines);
    else
      events.on(event::Note{lines.substr(0, lines.size() - 1)});
  };
  while (!stop.stop_requested()) {
    tell_requests();
    if (request.reload_asked && request.reload_asked()) reload(*server, request, events);
  }
  ServeRecord record{.url = serving.url,
                     .store = serving.store,
                     .drained = server->drain(std::chrono::seconds(request.grace_seconds))};
  server.reset();  // what is cut off now is logged, too
  tell_requests();
  log.count(record);
  return record;
}

template <>
struct Described<ServeRequest> {
  using Of = ServeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(listen, .help = "where to listen; default 127.0.0.1:7777, port 0: any free one",
                   .value = "HOST:PORT"),
      SABATH_FIELD(token, .help = "ask every client for the token in FILE", .value = "FILE"),
      SABATH_FIELD_AS("tls_cert", certificate, .help = "speak TLS with this certificate (PEM, with its chain)",
                      .value = "FILE"),
      SABATH_FIELD_AS("tls_key", key, .help = "its private key (PEM)", .value = "FILE"),
      SABATH_FIELD(anonymous, .help = "without a token, also at addresses that others can reach"),
      SABATH_FIELD_AS("hf", hub,
                      .help = "as a read-only hub, for HF_ENDPOINT: what was fetched from hf:// without credentials"),
      SABATH_FIELD(allow, .help = "as a hub: this repository, too ([datasets/]OWNER/NAME); again for more",
                   .value = "REPO"),
      SABATH_FIELD(connections, .help = "at most N clients at once; default 256", .maximum = connections_most,
                   .value = "N"),
      SABATH_FIELD(limit_rate, .help = "at most RATE bytes a second to each client, such as 10M", .unit = "bytes",
                   .value = "RATE"),
      SABATH_FIELD_AS("grace", grace_seconds, .help = "how long answers may take to end after SIGTERM; default 30",
                      .unit = "seconds", .maximum = grace_seconds_most, .value = "SECONDS"),
  };
};

template <>
struct Described<ServeRecord> {
  using Of = ServeRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(requests, .help = "that were answered"),
      SABATH_FIELD(bytes, .help = "that were sent", .unit = "bytes"),
      SABATH_FIELD(cut, .help = "answers that ended before their end"),
      SABATH_FIELD(unanswered, .help = "connections that were refused, or brought no whole request"),
      SABATH_FIELD(lines_dropped, .help = "lines of the log whose reader was too slow"),
      SABATH_FIELD(url, .help = "as recipes name it"),
      SABATH_FIELD(store, .help = "the store that was served"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const ServeRecord& record) { return record_text(record); }

extern constexpr LibraryVerb serve_call = described<serve>("serve");

}  // namespace sabath
