#include <fmt/format.h>

#include "base/file.h"
#include "cli/told/asset_table.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/session_settings.h"

namespace sabath::cli {
namespace {
namespace cmd_list {

struct Options {
  std::string kind, access;
  bool names = false, stored = false, newer = false;
};

std::string listed(const std::vector<std::filesystem::path>& directories) {
  std::string text;
  for (const auto& directory : directories)
    text +=
        (text.empty() ? "" : ", ") + printable(directory.native(), 4096) + (try_stat(directory) ? "" : " (not there)");
  return text.empty() ? "no directory" : text;
}

// Why the table is empty, and what fills it.
std::string why_nothing(const SessionSettings& settings, const Options& options) {
  if (options.newer)
    return "no subscribed catalogue that was asked has a later version: `sabath catalogue update` asks";
  if (options.stored) {
    return fmt::format("{} holds nothing that a recipe names: `sabath list` shows what can be fetched",
                       printable(settings.store.native(), 4096));
  }
  if (!options.kind.empty() || !options.access.empty()) return "no recipe is of this sort: `sabath list` shows all";
  std::vector<std::filesystem::path> places = settings.roots;
  places.insert(places.end(), settings.recipe_directories.begin(), settings.recipe_directories.end());
  return fmt::format("there are no recipes: SABATH looked in {}; name a directory that has some in SABATH_RECIPES",
                     listed(places));
}

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const ListRequest request{try_parse_kind(options.kind), try_parse_access(options.access), options.stored,
                            options.newer};
  const ListRecord record = list(session, request, unheard, context.stop);
  if (record.assets.empty() && record.problems.empty() && !context.presentation.json)
    context.say(why_nothing(session.settings(), options));
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
