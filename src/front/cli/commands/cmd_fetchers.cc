#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/verbs/fetchers.h"

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

void print(Context& context, const FetchersRecord& record) {
  Table table({"SCHEME", "BUILT", "RANGES", "LISTS", "BY"});
  const auto yes = [](bool value) { return value ? "yes" : "-"; };
  for (const auto& [scheme, first] : record.schemes) {
    if (first)
      table.add({scheme.name, yes(scheme.built), yes(scheme.ranges), yes(scheme.resolver), by(record, scheme)});
  }
  context.out.print(table.text({}, 0));
}

}  // namespace cmd_fetchers
}  // namespace

constexpr Verb fetchers_verb{
    .name = "fetchers",
    .summary = "list the URL schemes that this build can fetch",
    .examples =
        "sabath fetchers                  as a table\n"
        "sabath fetchers --json           for a program",
    .details =
        "Programs such as rsync or aws are described by files; docs/commands.md says how to add one, and `prefer` of "
        "the "
        "configuration has one used instead of SABATH's own code.",
    .declare = declare<list_fetchers, cmd_fetchers::print>,
    .once = true,
};

}  // namespace sabath::cli
