#include <fmt/format.h>

#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "serve/server.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_serve {

constexpr std::uint16_t port_usual = 7777;
constexpr std::size_t lines_max = 10'000;

struct Options {
  std::string listen = fmt::format("127.0.0.1:{}", port_usual);
  std::string token, certificate, key;
  bool anonymous = false;
  std::optional<std::uint64_t> connections, grace_s, rate;
};

// The log on its way from the server's threads to standard output, which is the main thread's. Lines that nobody takes
// off are dropped rather than kept.
class Log {
 public:
  void add(const AccessEntry& access) {
    const std::lock_guard lock(mutex_);
    ++requests_;
    bytes_ += access.bytes;
    cut_ += access.cut ? 1 : 0;
    if (lines_.size() < lines_max)
      lines_.push_back(to_line(access) + "\n");
    else
      ++dropped_;
    news_.notify_one();
  }
  // Waits for lines; empty after a stop request.
  std::string take(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, stop, [this] { return !lines_.empty(); });
    std::string text;
    for (const std::string& line : lines_) text += line;
    lines_.clear();
    return text;
  }
  [[nodiscard]] nlohmann::ordered_json record() const {
    const std::lock_guard lock(mutex_);
    return {{"schema", 1}, {"requests", requests_}, {"bytes", bytes_}, {"cut", cut_}, {"lines_dropped", dropped_}};
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any news_;
  std::deque<std::string> lines_;
  std::uint64_t requests_ = 0, bytes_ = 0, cut_ = 0, dropped_ = 0;
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

ServeSettings settings_of(const Options& options) {
  ServeSettings settings;
  place_of(options.listen, settings);
  if (!options.token.empty()) settings.token = read_token_file(options.token);
  if (!options.certificate.empty()) {
    settings.certificate = try_read_text(options.certificate, 1024 * 1024).value_or("");
    if (settings.certificate.empty()) {
      throw Error(FailureKind::usage, fmt::format("there is no certificate in {}", printable(options.certificate)));
    }
  }
  if (!options.key.empty()) settings.key = read_secret_file(options.key);
  if (options.connections) settings.connections_max = static_cast<unsigned>(*options.connections);
  settings.rate_max = options.rate.value_or(0);
  if (!is_loopback(settings.host) && settings.token.empty() && !options.anonymous) {
    throw Error(FailureKind::usage, fmt::format("others can reach {}, and no token is asked for", settings.host),
                "--token FILE asks for one; --anonymous means that whoever knows a hash may read");
  }
  return settings;
}

std::string url_of(const ServeSettings& settings, std::uint16_t port) {
  const bool v6 = settings.host.find(':') != std::string::npos;
  return fmt::format("sabath{}://{}{}{}:{}", settings.certificate.empty() ? "" : "+tls", v6 ? "[" : "", settings.host,
                     v6 ? "]" : "", port);
}

int run(Context& context, const Options& options) {
  const auto store = try_open_store(context.configuration.session);
  if (!store) {
    throw Error(FailureKind::usage,
                fmt::format("there is no store at {}", context.configuration.session.store.string()),
                "fetch something first, or name a store with --store DIR");
  }
  const ServeSettings settings = settings_of(options);
  Log log;
  auto server = make_server(*store, settings, [&log](const AccessEntry& access) { log.add(access); });
  const std::string url = url_of(settings, server->port());
  context.say(fmt::format("serving {} as {} (read-only, {})", store->directory().string(), url,
                          settings.token.empty() ? "to whoever reaches it" : "with a token"));
  if (!is_loopback(settings.host) && !settings.token.empty() && settings.certificate.empty()) {
    context.warn("the token and the content travel in clear: --tls-cert and --tls-key encrypt them");
  }
  const auto print = [&] {
    const std::string text = log.take(context.stop);
    if (context.presentation.json || context.presentation.quiet) return;
    context.out.print(text);
    context.out.flush();
  };
  while (!context.stop.stop_requested()) print();
  const bool drained = server->drain(std::chrono::seconds(options.grace_s.value_or(30)));
  server.reset();  // what is cut off now is logged, too
  print();
  if (!drained) context.warn("answers on their way were cut off; --grace SECONDS waits longer");
  if (context.presentation.json) {
    auto record = log.record();
    record["url"] = url;
    record["store"] = store->directory().string();
    record["exit"] = 0;
    context.out.record(record);
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.option("--listen", "HOST:PORT", options->listen, "where to listen; default 127.0.0.1:7777, port 0: any free one");
  set.option("--token", "FILE", options->token, "ask every client for the token in FILE");
  set.option("--tls-cert", "FILE", options->certificate, "speak TLS with this certificate (PEM, with its chain)");
  set.option("--tls-key", "FILE", options->key, "its private key (PEM)");
  set.flag("--anonymous", options->anonymous, "without a token, also at addresses that others can reach");
  set.count("--connections", "N", 10'000, options->connections, "at most N clients at once; default 256");
  set.size("--limit-rate", "RATE", options->rate, "at most RATE bytes a second to each client, such as 10M");
  set.count("--grace", "SECONDS", 86'400, options->grace_s,
            "how long answers may take to end after SIGTERM; default 30");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_serve
}  // namespace

constexpr Verb serve_verb{
    "serve",
    "give what this store holds to others, read-only",
    "sabath serve                                         on this machine only, port 7777\n"
    "sabath serve --listen 0.0.0.0:7777 --token FILE      for whoever has the token\n"
    "sabath serve --listen 0.0.0.0:7777 --token FILE --tls-cert cert.pem --tls-key key.pem",
    "A recipe, or a rewrite rule, names it as a source: \"urls\": [\"https://...\", \"sabath://cache.lab:7777\"], "
    "sabath+tls:// with TLS. Content is asked for by its hash, so it is checked as it arrives and the server need not "
    "be trusted; nothing can be listed. A line for each request goes to standard output.\n\n"
    "SIGTERM and SIGINT end it with exit code 0: answers on their way are finished first. docs/serving.md says more.",
    true,
    cmd_serve::declare,
};

}  // namespace sabath::cli
