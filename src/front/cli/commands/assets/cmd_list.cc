#include <fmt/format.h>

#include "base/file.h"
#include "cli/described.h"
#include "cli/told/asset_table.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/session_settings.h"

namespace sabath::cli {
namespace {
namespace cmd_list {

struct Options {
  ListRequest request;
  bool names = false;
};

std::string listed(const std::vector<std::filesystem::path>& directories) {
  std::string text;
  for (const auto& directory : directories)
    text +=
        (text.empty() ? "" : ", ") + printable(directory.native(), 4096) + (try_stat(directory) ? "" : " (not there)");
  return text.empty() ? "no directory" : text;
}

// Why the table is empty, and what fills it.
std::string why_nothing(const SessionSettings& settings, const ListRequest& request) {
  if (request.newer)
    return "no subscribed catalogue that was asked has a later version: `sabath catalogue update` asks";
  if (request.stored) {
    return fmt::format("{} holds nothing that a recipe names: `sabath list` shows what can be fetched",
                       printable(settings.store.native(), 4096));
  }
  if (request.kind || request.access) return "no recipe is of this sort: `sabath list` shows all";
  std::vector<std::filesystem::path> places = settings.roots;
  places.insert(places.end(), settings.recipe_directories.begin(), settings.recipe_directories.end());
  return fmt::format("there are no recipes: SABATH looked in {}; name a directory that has some in SABATH_RECIPES",
                     listed(places));
}

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const ListRecord record = list(session, options.request, unheard, context.stop);
  if (record.assets.empty() && record.problems.empty() && !context.presentation.json)
    context.say(why_nothing(session.settings(), options.request));
  if (options.request.newer && !options.names && !context.presentation.json) {
    for (const AssetSummary& asset : record.assets)
      context.out.print(fmt::format("{}@{}  {}\n", asset.name, asset.version, asset.newer));
    return record.exit;
  }
  print_assets(context, record, options.names);
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.flag("--names", options->names, "one name a line and nothing else");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_list
}  // namespace

constexpr Verb list_verb{
    .name = "list",
    .summary = "list the assets that recipes describe, and what the store holds",
    .examples =
        "sabath list                      every asset\n"
        "sabath list --kind dataset       datasets only\n"
        "sabath list --access public      what needs neither login nor licence\n"
        "sabath list --stored --names     what is in the store, for a script",
    .details =
        "Recipes that cannot be read are named on standard error; `sabath doctor` tells what is wrong with each.",
    .declare = cmd_list::declare,
    .once = true,
};

}  // namespace sabath::cli
