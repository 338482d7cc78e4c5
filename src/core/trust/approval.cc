#include "trust/approval.h"

#include <fmt/format.h>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

[[noreturn]] void refuse(const AssetCode& code, const TrustPolicy& policy, const std::string& doubt) {
  std::string hint = text_of(code);
  if (!doubt.empty()) hint += fmt::format("note    {}\n", doubt);
  if (!shows_all(code)) hint += "note    a question would not show all of it, so there was none\n";
  hint += fmt::format("look at it, then say {} once, or commit (always this code){}", policy.remedy,
                      code.origin.empty() || code.subscribed ? "" : ", or origin (also what comes later)");
  const std::string_view what = code.in_data ? "was not read: its files hold code that you have not trusted"
                                             : "was not run: it brings code that you have not trusted";
  throw Error(FailureKind::access, fmt::format("{} {}", printable(code.name), what), hint);
}

}  // namespace

TrustVerdict judge(const AssetCode& code, const TrustRegistry& registry) {
  if (needs_no_trust(code)) return {true, code.recipe_of == Ownership::shipped ? "shipped" : "own", {}};
  const TrustRegistry::Found found = registry.find(code);
  if (!found.entry) return {false, {}, found.doubt};
  return {true, std::string(name_of(found.entry->scope)), found.doubt};
}

TrustVerdict approve(const AssetCode& code, const TrustRegistry& registry, const TrustPolicy& policy) {
  const auto check = [](const std::string& scope) {
    if (scope.empty() || scope == "once" || scope == "commit" || scope == "origin") return;
    throw Error(FailureKind::usage, fmt::format("code is not trusted by '{}'", printable(scope)),
                "it is one of once, commit, origin");
  };
  check(policy.said);
  TrustVerdict verdict = judge(code, registry);
  if (verdict.trusted) return verdict;
  std::string scope = policy.said;
  if (scope.empty() && policy.ask && shows_all(code)) scope = policy.ask(code);
  check(scope);
  if (scope.empty()) refuse(code, policy, verdict.doubt);
  if (scope == "origin" && code.subscribed) {
    throw Error(FailureKind::usage,
                fmt::format("the recipe of {} is of a catalogue that others write: what they name later is not known",
                            printable(code.name)),
                "trust it by commit");
  }
  if (scope == "origin" && code.origin.empty()) {
    throw Error(FailureKind::usage, fmt::format("{} has commands and no code of an origin", printable(code.name)),
                "trust it by commit");
  }
  if (scope != "once") registry.add(code, scope == "commit" ? TrustScope::commit : TrustScope::origin);
  return {true, scope, {}};
}

}  // namespace sabath
