#include <nlohmann/json.hpp>

#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/schemes.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_fetchers {

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
    const std::string by = !scheme.built ? "known, not built" : scheme.command ? "program: " + scheme.by : "sabath";
    table.add({scheme.name, yes(scheme.built), yes(scheme.ranges), yes(scheme.resolver),
               by + (first ? "" : ", if preferred")});
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
