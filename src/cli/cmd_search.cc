#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "cli/asset_table.h"
#include "cli/assets.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr std::size_t pattern_bytes_max = 200;
constexpr std::size_t line_bytes_max = 2048;

struct Options {
  std::string pattern, kind;
  bool names = false;
};

// Breadth-first where the library has it: time in proportion to pattern and text, and no deep recursion, whatever the
// pattern is. Elsewhere the bounds on both must do.
constexpr std::regex::flag_type careful() {
  auto flags = std::regex::ECMAScript | std::regex::icase;
#ifdef __GLIBCXX__
  flags |= std::regex_constants::__polynomial;
#endif
  return flags;
}

std::regex compile(const std::string& pattern) {
  if (pattern.size() > pattern_bytes_max) {
    throw Error(FailureKind::usage,
                fmt::format("cannot search: the pattern has more than {} bytes", pattern_bytes_max));
  }
  try {
    return std::regex(pattern, careful());
  } catch (const std::regex_error& error) {
    throw Error(FailureKind::usage, fmt::format("cannot search for '{}': {}", printable(pattern), error.what()),
                "it is an ECMAScript regular expression: put \\ before . ( [ { + * ? to mean them literally");
  }
}

bool matches(const std::regex& regex, std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, std::min(end, line_bytes_max));
    if (std::regex_search(line.begin(), line.end(), regex)) return true;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return false;
}

bool matches(const std::regex& regex, const Recipe& recipe) {
  for (const std::string* text : {&recipe.name, &recipe.title, &recipe.abstract_text, &recipe.description}) {
    if (matches(regex, *text)) return true;
  }
  for (const auto& [key, value] : recipe.metadata) {
    if (matches(regex, key) || matches(regex, value)) return true;
  }
  return false;
}

int run(Context& context, const Options& options) {
  const std::regex regex = compile(options.pattern);
  const auto store = try_open_store(context.configuration.session);
  AssetTable table;
  for (const Catalogue::Listed& listed :
       make_catalogue(context.configuration.session).all(try_parse_kind(options.kind))) {
    if (listed.recipe && matches(regex, *listed.recipe)) {
      table.add(*listed.recipe, holding_of(*listed.recipe, store.get()));
    }
  }
  if (table.empty() && !context.presentation.json) {
    throw Error(FailureKind::not_found, fmt::format("no recipe matches '{}'", printable(options.pattern)),
                "sabath list shows them all");
  }
  const int exit = table.empty() ? exit_code(FailureKind::not_found) : 0;
  table.print(context, options.names, exit);
  return exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("REGEX", options->pattern, "an ECMAScript regular expression; upper and lower case are the same");
  set.choice("-k,--kind", {"dataset", "model", "workflow"}, options->kind, "only assets of this kind");
  set.flag("--names", options->names, "one name a line and nothing else");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace

constexpr Verb search_verb{
    "search",
    "find assets by what their recipes say",
    "sabath search cosmo              names, titles, abstracts, facts\n"
    "sabath search 'diffraction|ptycho'\n"
    "sabath search --kind model hdf5",
    "Exit code 3 when nothing matches.",
    false,
    declare,
};

}  // namespace sabath::cli
