#include <fmt/format.h>

#include "cli/described.h"
#include "cli/told/trusted_by.h"
#include "cli/verbs.h"
#include "sabath/verbs/where.h"

namespace sabath::cli {
namespace {
namespace cmd_where {

void print(Context& context, const WhereRecord& record) {
  const auto line = [&context](const char* key, const std::string& value) {
    context.out.print(fmt::format("{:<10} {}\n", key, value.empty() ? "-" : value));
  };
  line("recipe", record.recipe);
  line("store", record.store.string() + (record.made ? "" : " (not made yet)"));
  line("manifest", record.manifest + (record.manifest.empty() || record.has_manifest ? "" : " (not in the store)"));
  line("trusted by", trusted_by_text(record.trusted_by, record.recipe_pins));
  line("source", record.source);
  line("view", record.packed ? "(none: it is packed)" : record.path.string());
  if (record.packed) context.say(fmt::format("hint: sabath view {}", record.name));
  if (record.exit != 0 && !record.packed) context.say(fmt::format("hint: sabath fetch {}", record.name));
}

}  // namespace cmd_where
}  // namespace

constexpr Verb where_verb{
    .name = "info --where",
    .summary = "print the recipe, store, manifest and view of an asset",
    .examples = "sabath info --where cosmoflow    which recipe file counts, what the store knows",
    .details = "Exit code 9 when the store has no view of it. `sabath path` also checks that every file is there.",
    .declare = declare<where, cmd_where::print>,
};

}  // namespace sabath::cli
