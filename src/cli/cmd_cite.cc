#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_cite {

std::string lines_of(const std::string& citation) {
  std::string text;
  std::size_t begin = 0;
  while (begin < citation.size()) {
    const std::size_t end = std::min(citation.find('\n', begin), citation.size());
    text += printable(std::string_view(citation).substr(begin, end - begin), 4000) + "\n";
    begin = end + 1;
  }
  return text;
}

int run(Context& context, const std::vector<std::string>& names) {
  const Catalogue catalogue = make_catalogue(context.configuration.session);
  nlohmann::ordered_json record{{"schema", 1}, {"assets", nlohmann::ordered_json::array()}, {"exit", 0}};
  std::string text;
  for (const std::string& name : names) {
    const Recipe recipe = catalogue.find(name, std::nullopt);
    if (recipe.citation.empty()) {
      const std::string& lead = !recipe.homepage.empty() ? recipe.homepage : recipe.origin;
      throw Error(FailureKind::not_found, fmt::format("the recipe of {} has no citation", printable(recipe.name)),
                  recipe.references.empty() ? fmt::format("see {}", lead)
                                            : fmt::format("its references: {}", recipe.references.front()));
    }
    record["assets"].push_back({{"name", recipe.name}, {"citation", recipe.citation}});
    for (const std::string& citation : recipe.citation) {
      if (!text.empty()) text += "\n";
      text += lines_of(citation);
    }
  }
  if (context.presentation.json) {
    context.out.record(record);
  } else {
    context.out.print(text);
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto names = std::make_shared<std::vector<std::string>>();
  set.arguments("NAME", *names, true, "an asset");
  return [names](Context& context) { return run(context, *names); };
}

}  // namespace cmd_cite
}  // namespace

constexpr Verb cite_verb{
    "cite",
    "print how to cite an asset",
    "sabath cite cosmoflow >> paper.bib",
    "Exit code 3 when the recipe does not say.",
    false,
    cmd_cite::declare,
};

}  // namespace sabath::cli
