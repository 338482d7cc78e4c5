

#include "cli/asset_table.h"
#include "cli/verbs.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_list {

struct Options {
  std::string kind, access;
  bool names = false, stored = false;
};

int run(Context& context, const Options& options) {
  const Catalogue catalogue = make_catalogue(context.configuration.session);
  const auto store = try_open_store(context.configuration.session);
  AssetTable table;
  for (const Catalogue::Listed& listed : catalogue.all(try_parse_kind(options.kind))) {
    if (!listed.recipe) {
      table.add_problem(listed.file, listed.problem);
      continue;
    }
    if (!options.access.empty() && options.access != access_name(listed.recipe->access.kind)) continue;
    const Holding holding = holding_of(*listed.recipe, store.get());
    if (!options.stored || !holding.view.empty()) table.add(*listed.recipe, holding);
  }
  table.print(context, options.names, 0);
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.choice("-k,--kind", {"dataset", "model", "workflow"}, options->kind, "only assets of this kind");
  set.choice("--access", {"public", "login", "private"}, options->access, "only assets that are had this way");
  set.flag("--stored", options->stored, "only assets that stand in the store");
  set.flag("--names", options->names, "one name a line and nothing else");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_list
}  // namespace

constexpr Verb list_verb{
    "list",
    "what the recipes offer, and what of it the store holds",
    "sabath list                      every asset\n"
    "sabath list --kind dataset       datasets only\n"
    "sabath list --access public      what needs neither login nor licence\n"
    "sabath list --stored --names     what stands in the store, for a script",
    "Recipes that cannot be read are named on standard error; `sabath doctor` tells what is wrong with each.",
    false,
    cmd_list::declare,
};

}  // namespace sabath::cli
