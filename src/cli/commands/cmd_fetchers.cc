#include <nlohmann/json.hpp>

#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/schemes.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_fetchers {

// What reads the scheme, and the programs that `prefer` of the configuration may have instead.
std::string by(const FetchersRecord& record, const Scheme& used) {
  if (!used.built) return "known, not built";
  std::string others;
  for (const auto& [scheme, first] : record.schemes) {
    if (!first && scheme.built && scheme.name == used.name)
      others += (others.empty() ? "" : ", ") + (scheme.command ? scheme.by : "sabath");
  }
  return (used.command ? "program: " + used.by : "sabath") +
         (others.empty() ? "" : " (or by `prefer`: " + others + ")");
}

int run(Context& context) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const FetchersRecord record = list_fetchers(session, {}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  Table table({"SCHEME", "BUILT", "RANGES", "LISTS", "BY"});
  const auto yes = [](bool value) { return value ? "yes" : "-"; };
  for (const auto& [scheme, first] : record.schemes) {
    if (first)
      table.add({scheme.name, yes(scheme.built), yes(scheme.ranges), yes(scheme.resolver), by(record, scheme)});
  }
  context.out.print(table.text({}, 0));
  return record.exit;
}

Action declare(OptionSet&) { return run; }

}  // namespace cmd_fetchers
}  // namespace

constexpr Verb fetchers_verb{
    "fetchers",
    "which URL schemes this build can fetch, and by what",
    "sabath fetchers                  as a table\n"
    "sabath fetchers --json           for a program",
    "Programs such as rsync or aws are described by files; docs/commands.md says how to add one, and `prefer` of the "
    "configuration has one used instead of SABATH's own code.",
    false,
    cmd_fetchers::declare,
    false,
    true,
};

}  // namespace sabath::cli
