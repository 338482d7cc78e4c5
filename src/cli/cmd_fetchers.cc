#include <nlohmann/json.hpp>

#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/fetcher.h"

namespace sabath::cli {
namespace {

int run(Context& context) {
  const auto fetchers = make_fetchers(context.configuration.session.fetchers);
  if (context.presentation.json) {
    nlohmann::ordered_json record{{"schemes", nlohmann::ordered_json::array()}};
    for (const Scheme& scheme : fetchers->schemes()) {
      record["schemes"].push_back({{"name", scheme.name},
                                   {"built", scheme.built},
                                   {"ranges", scheme.ranges},
                                   {"resolver", scheme.resolver},
                                   {"command", scheme.command}});
    }
    context.out.record(record);
    return 0;
  }
  Table table({"SCHEME", "BUILT", "RANGES", "LISTS", "BY"});
  const auto yes = [](bool value) { return value ? "yes" : "-"; };
  for (const Scheme& scheme : fetchers->schemes()) {
    table.add({scheme.name, yes(scheme.built), yes(scheme.ranges), yes(scheme.resolver),
               scheme.command ? "external command" : "sabath"});
  }
  context.out.print(table.text({}, 0));
  return 0;
}

Action declare(OptionSet&) { return run; }

}  // namespace

constexpr Verb fetchers_verb{
    "fetchers",
    "which URL schemes this build can fetch",
    "sabath fetchers                  as a table\n"
    "sabath fetchers --json           for a program",
    "",
    false,
    declare,
};

}  // namespace sabath::cli
