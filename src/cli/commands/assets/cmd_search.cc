#include <fmt/format.h>

#include "cli/told/asset_table.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"

namespace sabath::cli {
namespace {
namespace cmd_search {

struct Options {
  SearchRequest request;
  std::vector<std::string> patterns;
  std::string kind, access;
  bool names = false;
  std::optional<std::uint64_t> limit;
};

int run(Context& context, Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  SearchRequest& request = options.request;
  request.more = options.patterns;
  request.kind = try_parse_kind(options.kind);
  request.access = try_parse_access(options.access);
  request.limit = options.limit.value_or(request.limit);
  request.environment = context.environment;
  const ListRecord record = search(session, request, unheard, context.stop);
  if (record.assets.empty() && !context.presentation.json) {
    throw Error(FailureKind::not_found,
                options.patterns.empty() ? "no recipe matches"
                                         : fmt::format("no recipe matches '{}'", printable(options.patterns.front())),
                "sabath list shows them all");
  }
  print_assets(context, record, options.names);
  if (record.found > record.assets.size() && !context.presentation.json)
    context.say(fmt::format("and {} more: --limit N shows them", *record.found - record.assets.size()));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  SearchRequest& request = options->request;
  set.arguments("REGEX", options->patterns, false,
                "words or regular expressions (RE2), all of which must be found; upper and lower case are the same");
  set.choice("-k,--kind", kind_words(), options->kind, "only assets of this kind");
  set.choice("--access", {"public", "login", "private"}, options->access, "only assets that may be had so");
  set.option("--tag", "KEY[=VALUE]", request.tags, "with this tag or fact, and this value");
  set.option("--author", "NAME", request.author, "by this creator: a part of the name, or an ORCID");
  set.option("--licence", "SPDX", request.licence, "under this licence");
  set.option("--doi", "DOI", request.doi, "with this DOI");
  set.option("--format", "NAME", request.format, "in this format, as the recipe or its files' endings say");
  set.option("--shape", "N,N,...", request.shape,
             "with an array of this shape, in the recipe or in files in the store; ? is an axis of any length");
  set.size("--min-size", "SIZE", request.size_min, "of at least this size, where the recipe says it");
  set.count("--limit", "N", 10'000, options->limit, "answers at most (100)");
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
    "sabath search --kind model hdf5\n"
    "sabath search --licence MIT --tag task=regression --min-size 1G",
    "What files in the store say of themselves is searched, too: attributes of HDF5, features, columns. "
    "The best answers come first: by the name, the title, other texts; of equals those in the store, and the last "
    "used. "
    "An index in the user's cache directory keeps what recipes say (docs/catalogues.md). Exit code 3 when nothing "
    "matches.",
    false,
    cmd_search::declare,
    false,
    true,
};

}  // namespace sabath::cli
