#include <fmt/format.h>

#include "cli/described.h"
#include "cli/told/asset_table.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/verbs/search.h"

namespace sabath::cli {
namespace {
namespace cmd_search {

struct Options {
  SearchRequest request;
  bool names = false;
};

int run(Context& context, Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  SearchRequest& request = options.request;
  request.environment = context.environment;
  const ListRecord record = search(session, request, unheard, context.stop);
  if (record.assets.empty() && !context.presentation.json) {
    throw Error(FailureKind::not_found,
                request.more.empty() ? "no recipe matches"
                                     : fmt::format("no recipe matches '{}'", printable(request.more.front())),
                "sabath list shows them all");
  }
  print_assets(context, record, options.names);
  if (record.found > record.assets.size() && !context.presentation.json)
    context.say(fmt::format("and {} more: --limit N shows them", *record.found - record.assets.size()));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.flag("--names", options->names, "one name a line and nothing else");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_search
}  // namespace

constexpr Verb search_verb{
    .name = "search",
    .summary = "find assets by what their recipes say",
    .examples =
        "sabath search cosmo              names, titles, abstracts, facts\n"
        "sabath search 'diffraction|ptycho'\n"
        "sabath search --kind model hdf5\n"
        "sabath search --licence MIT --tag task=regression --min-size 1G",
    .details =
        "What files in the store say of themselves is searched, too: attributes of HDF5, features, columns. "
        "The best answers come first: by the name, the title, other texts; of equals those in the store, and the last "
        "used. "
        "An index in the user's cache directory keeps what recipes say (docs/catalogues.md). Exit code 3 when nothing "
        "matches.",
    .declare = cmd_search::declare,
    .once = true,
};

}  // namespace sabath::cli
