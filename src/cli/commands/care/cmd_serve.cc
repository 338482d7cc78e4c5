#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/verbs.h"
#include "sabath/serving.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_serve {

struct Options {
  std::string listen = ServeRequest().listen;
  std::string token, certificate, key;
  bool anonymous = false, hub = false;
  std::vector<std::string> allow;
  std::optional<std::uint64_t> connections, grace_s, rate;
};

ServeRequest request_of(const Options& options) {
  ServeRequest request;
  request.listen = options.listen;
  request.token = options.token;
  request.certificate = options.certificate;
  request.key = options.key;
  request.anonymous = options.anonymous;
  request.hub = options.hub;
  request.allow = options.allow;
  if (options.connections) request.connections = static_cast<unsigned>(*options.connections);
  request.limit_rate = options.rate.value_or(0);
  if (options.grace_s) request.grace = std::chrono::seconds(*options.grace_s);
  return request;
}

int run(Context& context, const Options& options) {
  ServeRequest request = request_of(options);
  request.on_start = [&](const Serving& serving) {
    context.say(fmt::format("serving {} as {} (read-only, {})", serving.store.string(), serving.url,
                            serving.by_token ? "with a token" : "to all who reach it"));
    if (!serving.hub_endpoint.empty())
      context.say(fmt::format("{} of a hub: export HF_ENDPOINT={}",
                              counted(serving.repositories, "repository", "repositories"), serving.hub_endpoint));
    if (serving.in_clear)
      context.warn("the token and the content travel in clear: --tls-cert and --tls-key encrypt them");
  };
  request.on_requests = [&](std::string_view lines) {
    if (context.presentation.json || context.presentation.quiet) return;
    context.out.print(lines);
    context.out.flush();
  };
  request.reload_asked = [&signals = context.signals, seen = context.signals.reloads()]() mutable {
    const unsigned before = seen;
    seen = signals.reloads();
    return seen != before;
  };
  request.on_reload = [&](const std::optional<Failure>& failure) {
    if (!failure) return context.say("the token, the certificate and the key were read again");
    context.warn(fmt::format("the token, the certificate and the key stay as they were: {}{}{}", failure->message,
                             failure->hint.empty() ? "" : "; ", failure->hint));
  };
  Session session(context.configuration.session);
  NoEvents unheard;
  const ServeRecord record = serve(session, request, unheard, context.stop);
  if (!record.drained) context.warn("answers on their way were cut off; --grace SECONDS waits longer");
  if (record.lines_dropped > 0)
    context.warn(counted(record.lines_dropped, "line of the log was", "lines of the log were") +
                 " dropped: their reader was too slow");
  if (context.presentation.json) context.out.record(json_of(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.option("--listen", "HOST:PORT", options->listen, "where to listen; default 127.0.0.1:7777, port 0: any free one");
  set.option("--token", "FILE", options->token, "ask every client for the token in FILE");
  set.option("--tls-cert", "FILE", options->certificate, "speak TLS with this certificate (PEM, with its chain)");
  set.option("--tls-key", "FILE", options->key, "its private key (PEM)");
  set.flag("--anonymous", options->anonymous, "without a token, also at addresses that others can reach");
  set.flag("--hf", options->hub,
           "as a read-only hub, for HF_ENDPOINT: what was fetched from hf:// without credentials");
  set.option("--allow", "REPO", options->allow,
             "with --hf: this repository, too ([datasets/]OWNER/NAME); again for more");
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
    "sabath serve --listen 0.0.0.0:7777 --token FILE      for all who have the token\n"
    "sabath serve --listen 0.0.0.0:7777 --token FILE --tls-cert cert.pem --tls-key key.pem\n"
    "sabath serve --hf                                    as HF_ENDPOINT, too (docs/huggingface.md)",
    "A recipe, or a rewrite rule, names it as a source: \"urls\": [\"https://...\", \"sabath://cache.lab:7777\"], "
    "sabath+tls:// with TLS. Content is asked for by its hash, so it is checked as it arrives and the server need not "
    "be trusted; nothing can be listed. A line for each request goes to standard output.\n\n"
    "SIGTERM and SIGINT end it with exit code 0: answers on their way are finished first. SIGHUP reads the token, the "
    "certificate and the key again; if one is bad, all stay. docs/serving.md says more.",
    true,
    cmd_serve::declare,
    false,
    false,
    true,
};

}  // namespace sabath::cli
