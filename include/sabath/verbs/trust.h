// The code that this user has decided to run: docs/trust.md. One thread a session. Throws Error{usage},
// Error{not_found}, Error{access}, Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/verbs/run.h"

namespace sabath {

class Session;

struct TrustedCode {
  std::string id;                            // 64 hexadecimal digits
  std::string scope;                         // "commit": with these commands; "origin": all that comes from there
  std::string name, recipe, origin, commit;  // recipe: empty where it was the user's own; commit: of scope "commit"
  std::string digest;                        // "sha256:<hex>", of the commands and all that changes what they do
  std::vector<std::string> commands;         // as they stood then
  std::uint64_t since = 0;                   // seconds since 1970
};

struct TrustListRequest {
  Environment environment;  // its HOME and XDG_CONFIG_HOME say where the decisions stand
};

struct TrustListRecord {
  std::filesystem::path directory;
  std::vector<TrustedCode> trusted;  // by name
  std::vector<std::string> doubts;   // files there that do not count, and why
  int exit = 0;
};

[[nodiscard]] TrustListRecord list_trusted(Session& session, const TrustListRequest& request, EventSink& events,
                                           std::stop_token stop = {});
[[nodiscard]] std::string to_json(const TrustListRecord& record);

struct TrustRevokeRequest {
  std::vector<std::string> names;  // a model, an origin, or the first eight or more digits of an id
  bool all = false;                // instead of names
  Environment environment;
};

struct TrustRevokeRecord {
  std::vector<TrustedCode> revoked;
  int exit = 0;
};

// Error{not_found} for a name that nothing is called by; what stands before it is revoked then.
[[nodiscard]] TrustRevokeRecord revoke_trust(Session& session, const TrustRevokeRequest& request, EventSink& events,
                                             std::stop_token stop = {});
[[nodiscard]] std::string to_json(const TrustRevokeRecord& record);

struct TrustAddRequest {
  RunRequest run;  // what is to be trusted: the code that this run would start, and nothing else
  bool origin = false;
};

struct TrustAddRecord {
  std::string by;                    // as in run.json: "shipped" and "own" need no decision, and none is kept
  std::string about;                 // recipe, origin, commit and commands as lines for people
  std::vector<TrustedCode> trusted;  // the decision that was kept, or none
  int exit = 0;
};

// Fetches the code if it has to, and runs nothing.
[[nodiscard]] TrustAddRecord add_trust(Session& session, const TrustAddRequest& request, EventSink& events,
                                       std::stop_token stop = {});
[[nodiscard]] std::string to_json(const TrustAddRecord& record);

}  // namespace sabath
