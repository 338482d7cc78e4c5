#include <fmt/format.h>

#include <memory>

#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/told/run_display.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/trust.h"

namespace sabath::cli {
namespace {
namespace cmd_trust {

constexpr std::size_t id_digits_shown = 12;

std::string shown_line(const TrustedCode& code) {
  const std::string& what = !code.commit.empty() ? code.commit : code.origin.empty() ? code.digest : "all versions";
  return fmt::format("{}  {:<6}  {}  {}  {}\n", code.id.substr(0, id_digits_shown), code.scope, printable(code.name),
                     code.origin.empty() ? "-" : printable(code.origin, 1000), printable(what));
}

void print_list(Context& context, const TrustListRecord& record) {
  for (const std::string& doubt : record.doubts) context.warn(doubt);
  if (record.trusted.empty()) context.say("no code is trusted but what came with the program and what is your own");
  for (const TrustedCode& code : record.trusted) context.out.print(shown_line(code));
}

void print_revoked(Context& context, const TrustRevokeRecord& record) {
  for (const TrustedCode& code : record.revoked)
    context.say(fmt::format("{} is asked about again: {}", printable(code.name), code.id.substr(0, id_digits_shown)));
}

int add(Context& context, TrustAddRequest& request) {
  request.run.environment = context.environment;
  Session session(context.configuration.session);
  RunDisplay display(context);
  const TrustAddRecord record = add_trust(session, request, display, context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
    return record.exit;
  }
  context.say(record.about + (record.trusted.empty() ? "needs no trust" : "is trusted from now on"));
  for (const TrustedCode& code : record.trusted) context.out.print(code.id + "\n");
  return record.exit;
}

Action declare_add(OptionSet& set) {
  const auto request = std::make_shared<TrustAddRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return add(context, *request); };
}

}  // namespace cmd_trust
}  // namespace

constexpr Verb trust_list_verb{
    .name = "trust list",
    .summary = "show the code that you have decided to run",
    .examples =
        "sabath trust list                what was trusted, from where, at which commit\n"
        "sabath trust list --json         with the commands, for a program",
    .details = "Code that came with the program and code of your own needs no decision. docs/trust.md has the rules.",
    .declare = declare<list_trusted, cmd_trust::print_list>,
};

constexpr Verb trust_revoke_verb{
    .name = "trust revoke",
    .summary = "withdraw trust: SABATH asks again before it runs this code",
    .examples =
        "sabath trust revoke cosmoflow-lab\n"
        "sabath trust revoke https://git.example.org/lab/net\n"
        "sabath trust revoke --all",
    .details = "Exit code 3 when nothing is trusted by that name. What runs already goes on.",
    .declare = declare<revoke_trust, cmd_trust::print_revoked>,
};

constexpr Verb trust_add_verb{
    .name = "trust add",
    .summary = "trust the code of a model, and run nothing",
    .examples =
        "sabath trust add cosmoflow-lab             before it runs in a batch job\n"
        "sabath trust add cosmoflow-lab --origin    also what comes from there later",
    .details =
        "The code is fetched if it is not here; its commit and its commands are what is trusted. The decision's id is "
        "printed at the end.",
    .declare = cmd_trust::declare_add,
};

}  // namespace sabath::cli
