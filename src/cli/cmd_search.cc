#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "cli/asset_table.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_search {

constexpr std::size_t pattern_bytes_max = 200;

struct Options {
  std::string pattern, kind;
  bool names = false;
};

// Time in proportion to the text whatever the pattern is.
class Regex {
 public:
  explicit Regex(const std::string& pattern) : expression_(bounded(pattern), careless_of_case()) {
    if (!expression_.ok()) {
      throw Error(FailureKind::usage,
                  fmt::format("cannot search for '{}': {}", printable(pattern), printable(expression_.error())),
                  "it is an RE2 regular expression: put \\ before . ( [ { + * ? to mean them literally");
    }
  }
  [[nodiscard]] bool in_a_line_of(std::string_view text) const {
    for (std::size_t end; !text.empty(); text.remove_prefix(std::min(end, text.size() - 1) + 1)) {
      end = text.find('\n');
      const auto line = text.substr(0, end);
      if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), expression_)) return true;
    }
    return false;
  }

 private:
  static const std::string& bounded(const std::string& pattern) {
    if (pattern.size() <= pattern_bytes_max) return pattern;
    throw Error(FailureKind::usage,
                fmt::format("cannot search: the pattern has more than {} bytes", pattern_bytes_max));
  }
  static RE2::Options careless_of_case() {
    RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    return options;
  }

  RE2 expression_;
};

bool matches(const Regex& regex, const Recipe& recipe) {
  for (const std::string* text : {&recipe.name, &recipe.title, &recipe.abstract_text, &recipe.description}) {
    if (regex.in_a_line_of(*text)) return true;
  }
  for (const auto& [key, value] : recipe.metadata) {
    if (regex.in_a_line_of(key) || regex.in_a_line_of(value)) return true;
  }
  return false;
}

int run(Context& context, const Options& options) {
  const Regex regex(options.pattern);
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
};

}  // namespace sabath::cli
