#include <fmt/format.h>

#include "base/counted.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/verbs/serve.h"

namespace sabath::cli {
namespace {
namespace cmd_serve {

int run(Context& context, ServeRequest request) {
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
  if (context.presentation.json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<ServeRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_serve
}  // namespace

constexpr Verb serve_verb{
    .name = "serve",
    .summary = "serve this store to other machines, read-only",
    .examples =
        "sabath serve                                         on this machine only, port 7777\n"
        "sabath serve --listen 0.0.0.0:7777 --token FILE      for all who have the token\n"
        "sabath serve --listen 0.0.0.0:7777 --token FILE --tls-cert cert.pem --tls-key key.pem\n"
        "sabath serve --hf                                    as HF_ENDPOINT, too (docs/huggingface.md)",
    .details =
        "A recipe, or a rewrite rule, names it as a source: \"urls\": [\"https://...\", \"sabath://cache.lab:7777\"], "
        "sabath+tls:// with TLS. Content is asked for by its hash, so it is checked as it arrives and the server need "
        "not be trusted; nothing can be listed. A line for each request goes to standard output.\n\n"
        "SIGTERM and SIGINT end it with exit code 0: answers on their way are finished first. SIGHUP reads the token, "
        "the certificate and the key again; if one is bad, all stay. docs/serving.md says more.",
    .keeps_state = true,
    .declare = cmd_serve::declare,
    .reloads = true,
};

}  // namespace sabath::cli
