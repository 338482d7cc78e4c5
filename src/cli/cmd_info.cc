#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/recipe_record.h"
#include "cli/verbs.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_info {

struct Options {
  std::vector<std::string> names;
  std::string kind;
};

int run(Context& context, const Options& options) {
  const Catalogue catalogue = make_catalogue(context.configuration.session);
  const auto store = try_open_store(context.configuration.session);
  nlohmann::ordered_json record{{"schema", 1}, {"assets", nlohmann::ordered_json::array()}};
  const std::size_t width = std::min(terminal_width(STDOUT_FILENO, context.environment), 110U);
  std::string text;
  for (const std::string& name : options.names) {
    const Recipe recipe = catalogue.find(name, try_parse_kind(options.kind));
    const Holding holding = holding_of(recipe, store.get());
    record["assets"].push_back(full_record(recipe, holding));
    if (!text.empty()) text += "\n";
    text += full_text(recipe, holding, width);
  }
  record["exit"] = 0;
  if (context.presentation.json) {
    context.out.record(record);
  } else {
    context.out.print(text);
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, true, "an asset, NAME@VERSION, or a recipe file");
  set.choice("-k,--kind", {"dataset", "model", "workflow"}, options->kind, "when a dataset and a model share the name");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_info
}  // namespace

constexpr Verb info_verb{
    "info",
    "all that is known of an asset",
    "sabath info cosmoflow            its sources, checksums, licence, where it stands\n"
    "sabath info ./datasets/mine.json a recipe of your own\n"
    "sabath info --json cosmoflow     the same for a program",
    "",
    false,
    cmd_info::declare,
};

}  // namespace sabath::cli
