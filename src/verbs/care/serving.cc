#include "sabath/serving.h"

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
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::size_t lines_max = 10'000;
constexpr unsigned connections_most = 10'000;
constexpr std::uint64_t grace_s_most = 86'400;
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
  if (static_cast<std::uint64_t>(request.grace.count()) > grace_s_most)  // below zero it is as well
    throw Error(FailureKind::usage,
                fmt::format("a grace of {} s is not from 0 to {}", request.grace.count(), grace_s_most));
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
  ServeRecord record{.url = serving.url, .store = serving.store, .drained = server->drain(request.grace)};
  server.reset();  // what is cut off now is logged, too
  tell_requests();
  log.count(record);
  return record;
}

Json json_of(const ServeRecord& record) {
  return {{"schema", 1},       {"requests", record.requests},     {"bytes", record.bytes},
          {"cut", record.cut}, {"unanswered", record.unanswered}, {"lines_dropped", record.lines_dropped},
          {"url", record.url}, {"store", record.store.string()},  {"exit", record.exit}};
}

std::string to_json(const ServeRecord& record) { return text_of(json_of(record)); }

Json call_serve(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  ServeRequest wanted;
  if (const auto listen = request.try_text("listen")) wanted.listen = *listen;
  wanted.token = request.try_text("token").value_or("");
  wanted.certificate = request.try_text("tls_cert").value_or("");
  wanted.key = request.try_text("tls_key").value_or("");
  wanted.anonymous = request.flag("anonymous");
  wanted.hub = request.flag("hf");
  wanted.allow = request.texts("allow");
  const auto bounded = [&](const char* key, std::uint64_t usual, std::uint64_t most) {
    const std::uint64_t value = request.try_uint(key).value_or(usual);
    if (value > most) request.fail(key, fmt::format("is more than {}", most));
    return value;
  };
  wanted.connections = static_cast<unsigned>(bounded("connections", wanted.connections, connections_most));
  wanted.grace = std::chrono::seconds(bounded("grace", 30, grace_s_most));
  wanted.limit_rate = request.try_size("limit_rate").value_or(0);
  request.finish();
  return json_of(serve(session, wanted, events, std::move(stop)));
}

}  // namespace sabath
