// The store of a session as a source for others, read-only, by HTTP or HTTPS: a client gets the content whose hash
// it knows (docs/serving.md). Any thread; the caller waits until a stop is requested. Throws Error{usage} for a request
// without sense and where there is no store, Error{access} for a secret that others may read, Error{unavailable} if it
// cannot listen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/error.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct Serving {
  std::string url;  // as recipes name it: sabath://HOST:PORT
  std::filesystem::path store;
  bool by_token = false;         // clients show a token; else all that reach it may read
  std::string hub_endpoint{};    // for HF_ENDPOINT; empty: it is none
  std::size_t repositories = 0;  // that it serves as a hub now
  bool in_clear = false;         // the token and the content can be read on their way
};

struct ServeRequest {
  std::string listen = "127.0.0.1:7777";   // HOST:PORT or [IPv6]:PORT; port 0: any free one
  std::filesystem::path token;             // the file with the token that clients must show; empty: none
  std::filesystem::path certificate, key;  // PEM files, for TLS; empty: none
  // As a read-only hub of Hugging Face's kind, too (docs/huggingface.md): of what was fetched from one without
  // credentials, and of these repositories, "[datasets/]OWNER/NAME".
  bool hub = false;
  std::vector<std::string> allow;
  bool anonymous = false;        // without a token, also at addresses that others can reach
  unsigned connections = 256;    // at once, at most 10,000
  std::uint64_t limit_rate = 0;  // bytes a second to each client; 0: none
  unsigned grace_seconds = 30;   // how long answers on their way may take to end, at most a day
  // All are called by the thread that serves; each may be empty.
  std::function<void(const Serving&)> on_start;
  std::function<void(std::string_view)> on_requests;  // whole lines, one for each request or unanswered connection
  // Asked some times a second: whether to read the token, the certificate and the key again. If one of them is bad
  // then, all stay as they were, and the failure says why.
  std::function<bool()> reload_asked;
  std::function<void(const std::optional<Failure>&)> on_reload;
};

struct ServeRecord {
  std::uint64_t requests = 0, bytes = 0;
  std::uint64_t cut = 0;            // answers that ended before their end
  std::uint64_t unanswered = 0;     // connections that were refused, or brought no whole request
  std::uint64_t lines_dropped = 0;  // that on_requests was too slow for
  std::string url;
  std::filesystem::path store;
  bool drained = true;  // no answer was on its way when the grace had passed
  int exit = 0;
};

// Events: ServeStarted; without on_requests, a Note of each request; without on_reload, a Warning of each failure.
[[nodiscard]] ServeRecord serve(Session& session, const ServeRequest& request, EventSink& events,
                                std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ServeRecord& record);

}  // namespace sabath
