#include <fmt/format.h>

#include "cli/told/asset_table.h"
#include "cli/verbs.h"

namespace sabath::cli {
namespace {
namespace cmd_list {

struct Options {
  std::string kind, access;
  bool names = false, stored = false, newer = false;
};

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const ListRequest request{try_parse_kind(options.kind), try_parse_access(options.access), options.stored,
                            options.newer};
  const ListRecord record = list(session, request, unheard, context.stop);
  if (options.newer && !options.names && !context.presentation.json) {
    for (const AssetSummary& asset : record.assets)
      context.out.print(fmt::format("{}@{}  {}\n", asset.name, asset.version, asset.newer));
    return record.exit;
  }
  print_assets(context, record, options.names);
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.choice("-k,--kind", kind_words(), options->kind, "only assets of this kind");
  set.choice("--access", {"public", "login", "private"}, options->access, "only assets that are had this way");
  set.flag("--stored", options->stored, "only assets that stand in the store");
  set.flag("--newer", options->newer, "only assets of which a subscribed catalogue has a later version");
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
    false,
    true,
};

}  // namespace sabath::cli
