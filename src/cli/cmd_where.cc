#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_where {

int run(Context& context, const std::string& name) {
  const SessionSettings& settings = context.configuration.session;
  const Recipe recipe = make_catalogue(settings).find(name, std::nullopt);
  const auto store = try_open_store(settings);
  const Holding holding = holding_of(recipe, store.get());
  const auto manifest = store && holding.has_manifest ? store->manifest(*holding.root) : std::nullopt;
  const bool packed = manifest && holding.view.empty() && store->packed(*manifest);
  const int exit = holding.view.empty() ? exit_code(FailureKind::offline) : 0;
  const std::string root = holding.root ? holding.root->prefixed() : "";
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"name", recipe.name},
                        {"recipe", recipe.origin},
                        {"store", settings.store.string()},
                        {"manifest", text_or_null(root)},
                        {"has_manifest", holding.has_manifest},
                        {"trusted_by", text_or_null(holding.trusted_by)},
                        {"source", text_or_null(holding.source)},
                        {"path", text_or_null(holding.view.string())},
                        {"packed", packed},
                        {"exit", exit}});
    return exit;
  }
  const auto line = [&context](const char* key, const std::string& value) {
    context.out.print(fmt::format("{:<10} {}\n", key, value.empty() ? "-" : value));
  };
  line("recipe", recipe.origin);
  line("store", settings.store.string() + (store ? "" : " (not made yet)"));
  line("manifest", root + (root.empty() || holding.has_manifest ? "" : " (not in the store)"));
  line("trusted by", holding.trusted_by);
  line("source", holding.source);
  line("view", packed ? "(none: it is packed)" : holding.view.string());
  if (packed) context.say(fmt::format("hint: sabath view {}", recipe.name));
  if (exit != 0 && !packed) context.say(fmt::format("hint: sabath fetch {}", recipe.name));
  return exit;
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
