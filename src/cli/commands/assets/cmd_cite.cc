#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/catalogue.h"
#include "sabath/path.h"
#include "verbs/records.h"

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
  Session session(context.configuration.session);
  NoEvents unheard;
  const CiteRecord record = cite(session, {names}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  std::string text;
  for (const AssetCitations& asset : record.assets) {
    for (const std::string& citation : asset.citations) text += (text.empty() ? "" : "\n") + lines_of(citation);
  }
  context.out.print(text);
  return record.exit;
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
    false,
    true,
};

}  // namespace sabath::cli
