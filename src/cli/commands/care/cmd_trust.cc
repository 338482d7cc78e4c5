#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/show/render.h"
#include "cli/told/run_display.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/trust.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_trust {

constexpr std::size_t id_digits_shown = 12;

std::string shown_line(const TrustedCode& code) {
  const std::string& what = !code.commit.empty() ? code.commit : code.origin.empty() ? code.digest : "all versions";
  return fmt::format("{}  {:<6}  {}  {}  {}\n", code.id.substr(0, id_digits_shown), code.scope, printable(code.name),
                     code.origin.empty() ? "-" : printable(code.origin, 1000), printable(what));
}

int list(Context& context) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const TrustListRecord record = list_trusted(session, {context.environment}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  for (const std::string& doubt : record.doubts) context.warn(doubt);
  if (record.trusted.empty()) context.say("no code is trusted but what came with the program and what is your own");
  for (const TrustedCode& code : record.trusted) context.out.print(shown_line(code));
  return record.exit;
}

struct RevokeOptions {
  std::vector<std::string> names;
  bool all = false;
};

int revoke(Context& context, const RevokeOptions& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const TrustRevokeRecord record =
      revoke_trust(session, {options.names, options.all, context.environment}, unheard, context.stop);
  for (const TrustedCode& code : record.revoked)
    context.say(fmt::format("{} is asked about again: {}", printable(code.name), code.id.substr(0, id_digits_shown)));
  if (context.presentation.json) context.out.record(json_of(record));
  return record.exit;
}

int add(Context& context, TrustAddRequest& request) {
  request.run.environment = context.environment;
  Session session(context.configuration.session);
  RunDisplay display(context);
  const TrustAddRecord record = add_trust(session, request, display, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  context.say(record.about + (record.trusted.empty() ? "needs no trust" : "is trusted from now on"));
  for (const TrustedCode& code : record.trusted) context.out.print(code.id + "\n");
  return record.exit;
}

Action declare_list(OptionSet&) { return list; }

Action declare_revoke(OptionSet& set) {
  const auto options = std::make_shared<RevokeOptions>();
  set.arguments("NAME", options->names, false, "a model, an origin, or the first digits of what `trust list` shows");
  set.flag("--all", options->all, "everything that was decided");
  return [options](Context& context) { return revoke(context, *options); };
}

Action declare_add(OptionSet& set) {
  const auto request = std::make_shared<TrustAddRequest>();
  set.argument("MODEL", request->run.model, "a model or workflow");
  set.optional_argument("DATASET", request->run.dataset, "what it would run on (default: the recipe's)");
  set.choice("--mode", {"train", "infer"}, request->run.mode, "which run set of the recipe");
  set.option("--run-set", "KEY", request->run.run_set, "the run set with this key (default: the dataset's)");
  set.flag("--origin", request->origin, "also what this recipe gets from its origin later, and runs then");
  return [request](Context& context) { return add(context, *request); };
}

}  // namespace cmd_trust
}  // namespace

constexpr Verb trust_list_verb{
    "trust list",
    "show the code that you have decided to run",
    "sabath trust list                what was trusted, from where, at which commit\n"
    "sabath trust list --json         with the commands, for a program",
    "Code that came with the program and code of your own needs no decision. docs/trust.md has the rules.",
    false,
    cmd_trust::declare_list,
};

constexpr Verb trust_revoke_verb{
    "trust revoke",
    "let code be asked about again",
    "sabath trust revoke cosmoflow-lab\n"
    "sabath trust revoke https://git.example.org/lab/net\n"
    "sabath trust revoke --all",
    "Exit code 3 when nothing is trusted by that name. What runs already goes on.",
    false,
    cmd_trust::declare_revoke,
};

constexpr Verb trust_add_verb{
    "trust add",
    "trust the code of a model, and run nothing",
    "sabath trust add cosmoflow-lab             before it runs in a batch job\n"
    "sabath trust add cosmoflow-lab --origin    also what comes from there later",
    "The code is fetched if it is not here; its commit and its commands are what is trusted. The decision's id is "
    "printed at the end.",
    false,
    cmd_trust::declare_add,
};

}  // namespace sabath::cli
