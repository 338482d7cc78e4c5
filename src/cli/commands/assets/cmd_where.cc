#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/catalogue.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_where {

int run(Context& context, const std::string& name) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const WhereRecord record = where(session, {name}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  const auto line = [&context](const char* key, const std::string& value) {
    context.out.print(fmt::format("{:<10} {}\n", key, value.empty() ? "-" : value));
  };
  line("recipe", record.recipe);
  line("store", record.store.string() + (record.made ? "" : " (not made yet)"));
  line("manifest", record.manifest + (record.manifest.empty() || record.has_manifest ? "" : " (not in the store)"));
  line("trusted by", record.trusted_by);
  line("source", record.source);
  line("view", record.packed ? "(none: it is packed)" : record.path.string());
  if (record.packed) context.say(fmt::format("hint: sabath view {}", record.name));
  if (record.exit != 0 && !record.packed) context.say(fmt::format("hint: sabath fetch {}", record.name));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto name = std::make_shared<std::string>();
  set.argument("NAME", *name, "an asset");
  return [name](Context& context) { return run(context, *name); };
}

}  // namespace cmd_where
}  // namespace

constexpr Verb where_verb{
    "where",
    "print the recipe, store, manifest and view of an asset",
    "sabath where cosmoflow           which recipe file counts, what the store knows",
    "Exit code 9 when the store has no view of it. `sabath path` also checks that every file is there.",
    false,
    cmd_where::declare,
};

}  // namespace sabath::cli
