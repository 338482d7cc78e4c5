#include "sabath/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "fields/request.h"
#include "harness/consent.h"
#include "harness/data_code.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/caller_of.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::size_t id_digits_min = 8;

TrustedCode told(TrustEntry entry) {
  const bool exact = entry.scope == TrustScope::commit;
  return {std::move(entry.id),
          std::string(name_of(entry.scope)),
          std::move(entry.name),
          std::move(entry.recipe),
          std::move(entry.origin),
          std::move(entry.commit),
          exact ? entry.digest.prefixed() : "",
          std::move(entry.commands),
          entry.since};
}

bool is_called(const TrustEntry& entry, const std::string& name) {
  return entry.name == name || (!entry.origin.empty() && entry.origin == name) ||
         (name.size() >= id_digits_min && entry.id.starts_with(name));
}

Json json_of_trusted(const std::vector<TrustedCode>& all) {
  Json list = Json::array();
  for (const TrustedCode& code : all) {
    list.push_back({{"id", code.id},
                    {"scope", code.scope},
                    {"name", code.name},
                    {"recipe", text_or_null(code.recipe)},
                    {"origin", text_or_null(code.origin)},
                    {"commit", text_or_null(code.commit)},
                    {"digest", text_or_null(code.digest)},
                    {"commands", code.commands},
                    {"since", code.since}});
  }
  return list;
}

}  // namespace

TrustListRecord list_trusted(Session&, const TrustListRequest& request, EventSink&, std::stop_token) {
  const TrustRegistry registry = trust_registry(request.environment);
  TrustListRecord record;
  record.directory = registry.directory();
  for (TrustEntry& entry : registry.all(record.doubts)) record.trusted.push_back(told(std::move(entry)));
  return record;
}

TrustRevokeRecord revoke_trust(Session&, const TrustRevokeRequest& request, EventSink&, std::stop_token) {
  if (request.names.empty() != request.all) {
    throw Error(FailureKind::usage, "what to revoke is not said",
                fmt::format("name it, or say {}", option_text("all")));
  }
  const TrustRegistry registry = trust_registry(request.environment);
  std::vector<std::string> doubts;
  const std::vector<TrustEntry> entries = registry.all(doubts);
  TrustRevokeRecord record;
  const auto revoke = [&](const auto& is_meant) {
    bool any = false;
    for (const TrustEntry& entry : entries) {
      if (!is_meant(entry)) continue;
      any = true;
      if (registry.remove(entry.id)) record.revoked.push_back(told(entry));
    }
    return any;
  };
  if (request.all) revoke([](const TrustEntry&) { return true; });
  for (const std::string& name : request.names) {
    if (revoke([&](const TrustEntry& entry) { return is_called(entry, name); })) continue;
    throw Error(FailureKind::not_found, fmt::format("nothing is trusted by the name {}", printable(name)),
                "the list of what is trusted has the names");
  }
  return record;
}

TrustAddRecord add_trust(Session& session, const TrustAddRequest& request, EventSink& events, std::stop_token stop) {
  RunRequest asked = request.run;
  asked.trust = request.origin ? "origin" : "commit";
  const RunCall call{caller_of(session), asked, events, std::move(stop)};
  const ResolvedRun run = resolve_run(call);
  const Consent consent = ask_consent(call, run);
  TrustAddRecord record{consent.verdict.by, text_of(consent.code), {}};
  const TrustRegistry registry = trust_registry(asked.environment);
  const auto add = [&](const AssetCode& code) {
    const TrustRegistry::Found kept = registry.find(code);
    if (kept.entry) record.trusted.push_back(told(*kept.entry));
  };
  if (!needs_no_trust(consent.code)) add(consent.code);
  RunAssets assets = foresee_assets(call, run);  // what is not here cannot be looked into
  for (const AssetCode& code : data_code(call, run, consent, assets)) {
    static_cast<void>(approve(code, registry, {.said = asked.trust, .ask = {}, .remedy = {}}));
    record.about += text_of(code);
    add(code);
  }
  return record;
}

Json json_of(const TrustListRecord& record) {
  return {{"schema", 1},
          {"directory", text_or_null(record.directory.string())},
          {"trusted", json_of_trusted(record.trusted)},
          {"doubts", record.doubts},
          {"exit", record.exit}};
}

Json json_of(const TrustRevokeRecord& record) {
  return {{"schema", 1}, {"revoked", json_of_trusted(record.revoked)}, {"exit", record.exit}};
}

Json json_of(const TrustAddRecord& record) {
  return {{"schema", 1}, {"by", record.by}, {"trusted", json_of_trusted(record.trusted)}, {"exit", record.exit}};
}

std::string to_json(const TrustListRecord& record) { return text_of(json_of(record)); }
std::string to_json(const TrustRevokeRecord& record) { return text_of(json_of(record)); }
std::string to_json(const TrustAddRecord& record) { return text_of(json_of(record)); }

Json call_trust_list(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const TrustListRequest request{environment_in(asked)};
  asked.finish();
  return json_of(list_trusted(session, request, events, std::move(stop)));
}

Json call_trust_revoke(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const TrustRevokeRequest request{asked.texts("names"), asked.flag("all"), environment_in(asked)};
  asked.finish();
  return json_of(revoke_trust(session, request, events, std::move(stop)));
}

Json call_trust_add(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  TrustAddRequest request;
  request.run.model = asked.text("model");
  request.run.dataset = asked.try_text("dataset").value_or("");
  request.run.run_set = asked.try_text("run_set").value_or("");
  request.run.mode = asked.try_text("mode").value_or("train");
  request.run.environment = environment_in(asked);
  request.origin = asked.flag("origin");
  asked.finish();
  return json_of(add_trust(session, request, events, std::move(stop)));
}

}  // namespace sabath
