#include <fmt/format.h>

#include "cli/told/asset_table.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_search {

struct Options {
  std::string pattern, kind;
  bool names = false;
};

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const ListRecord record = search(session, {options.pattern, try_parse_kind(options.kind)}, unheard, context.stop);
  if (record.assets.empty() && !context.presentation.json) {
    throw Error(FailureKind::not_found, fmt::format("no recipe matches '{}'", printable(options.pattern)),
                "sabath list shows them all");
  }
  print_assets(context, record, options.names);
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("REGEX", options->pattern, "a regular expression (RE2); upper and lower case are the same");
  set.choice("-k,--kind", {"dataset", "model", "workflow"}, options->kind, "only assets of this kind");
  set.flag("--names", options->names, "one name a line and nothing else");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_search
}  // namespace

constexpr Verb search_verb{
    "search",
    "find assets by what their recipes say",
    "sabath search cosmo              names, titles, abstracts, facts\n"
    "sabath search 'diffraction|ptycho'\n"
    "sabath search --kind model hdf5",
    "Exit code 3 when nothing matches.",
    false,
    cmd_search::declare,
    false,
    true,
};

}  // namespace sabath::cli
