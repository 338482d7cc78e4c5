#include "sabath/verbs/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "harness/consent.h"
#include "harness/data_code.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/caller_of.h"
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

constexpr std::string_view trust_environment_help =
    "the variables whose HOME and XDG_CONFIG_HOME say where the decisions are; absent: those of this process";

template <>
struct Described<TrustedCode> {
  using Of = TrustedCode;
  static constexpr Field table[] = {
      SABATH_FIELD(id, .help = "64 hexadecimal digits"),
      SABATH_FIELD(scope, .help = "commit: with these commands; origin: all that comes from there"),
      SABATH_FIELD(name, .help = "the model or workflow"),
      SABATH_FIELD(recipe, .help = "where its recipe came from; null: it was the user's own", .null_if_empty = true),
      SABATH_FIELD(origin, .help = "where the code comes from", .null_if_empty = true),
      SABATH_FIELD(commit, .help = "which code, of the scope commit", .null_if_empty = true),
      SABATH_FIELD(digest, .help = "of the commands and all that changes what they do", .null_if_empty = true),
      SABATH_FIELD(commands, .help = "as they were then"),
      SABATH_FIELD(since, .help = "when it was decided, since 1970", .unit = "seconds"),
  };
};

template <>
struct Described<TrustListRequest> {
  using Of = TrustListRequest;
  static constexpr Field table[] = {SABATH_FIELD(environment, .help = trust_environment_help, .hidden = true)};
};

template <>
struct Described<TrustListRecord> {
  using Of = TrustListRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "where the decisions are", .null_if_empty = true),
      SABATH_FIELD(trusted, .help = "by name"),
      SABATH_FIELD(doubts, .help = "files there that do not count, and why"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<TrustRevokeRequest> {
  using Of = TrustRevokeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "a model, an origin, or the first digits of what `trust list` shows",
                   .argument = "NAME"),
      SABATH_FIELD(all, .help = "everything that was decided"),
      SABATH_FIELD(environment, .help = trust_environment_help, .hidden = true),
  };
};

template <>
struct Described<TrustRevokeRecord> {
  using Of = TrustRevokeRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(revoked, .help = "what is asked about again"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<TrustAddRequest> {
  using Of = TrustAddRequest;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("model", run.model, .help = "a model or workflow", .required = true, .argument = "MODEL"),
      SABATH_FIELD_AS("dataset", run.dataset, .help = "what it would run on (default: the recipe's)",
                      .argument = "DATASET"),
      SABATH_FIELD_AS("mode", run.mode, .help = "which run set of the recipe", .words = "train|infer"),
      SABATH_FIELD_AS("run_set", run.run_set, .help = "the run set with this key (default: the dataset's)",
                      .value = "KEY"),
      SABATH_FIELD(origin, .help = "also what this recipe gets from its origin later, and runs then"),
      SABATH_FIELD_AS("environment", run.environment, .help = trust_environment_help, .hidden = true),
  };
};

template <>
struct Described<TrustAddRecord> {
  using Of = TrustAddRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(by, .help = "as in run.json: code that is shipped or own needs no decision, and none is kept"),
      SABATH_FIELD(trusted, .help = "the decision that was kept, or none"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const TrustListRecord& record) { return record_text(record); }
std::string to_json(const TrustRevokeRecord& record) { return record_text(record); }
std::string to_json(const TrustAddRecord& record) { return record_text(record); }

extern constexpr LibraryVerb trust_list_call = described<list_trusted>("trust list");
extern constexpr LibraryVerb trust_revoke_call = described<revoke_trust>("trust revoke");
extern constexpr LibraryVerb trust_add_call = described<add_trust>("trust add");

}  // namespace sabath
