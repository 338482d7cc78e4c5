#include <nlohmann/json.hpp>
#include <set>

#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/fetcher.h"

namespace sabath::cli {
namespace {
namespace cmd_fetchers {

int run(Context& context) {
  const auto fetchers = make_fetchers(context.configuration.session.fetchers);
  std::set<std::string> seen;  // the first one that serves a scheme is used, the others could be preferred
  nlohmann::ordered_json record{{"schemes", nlohmann::ordered_json::array()}};
  Table table({"SCHEME", "BUILT", "RANGES", "LISTS", "BY"});
  const auto yes = [](bool value) { return value ? "yes" : "-"; };
  for (const Scheme& scheme : fetchers->schemes()) {
    const bool used = seen.insert(scheme.name).second;
    record["schemes"].push_back({{"name", scheme.name},
                                 {"built", scheme.built},
                                 {"ranges", scheme.ranges},
                                 {"resolver", scheme.resolver},
                                 {"command", scheme.command},
                                 {"by", text_or_null(scheme.by)},
                                 {"used", scheme.built && used}});
    const std::string by = !scheme.built ? "known, not built" : scheme.command ? "program: " + scheme.by : "sabath";
    table.add({scheme.name, yes(scheme.built), yes(scheme.ranges), yes(scheme.resolver),
               by + (used ? "" : ", if preferred")});
  }
  if (context.presentation.json) {
    context.out.record(record);
    return 0;
  }
  context.out.print(table.text({}, 0));
  return 0;
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
    "configuration has one used in place of SABATH's own code.",
    false,
    cmd_fetchers::declare,
};

}  // namespace sabath::cli
