#include <algorithm>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/cite.h"

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

void print(Context& context, const CiteRecord& record) {
  std::string text;
  for (const AssetCitations& asset : record.assets) {
    for (const std::string& citation : asset.citations) text += (text.empty() ? "" : "\n") + lines_of(citation);
  }
  context.out.print(text);
}

}  // namespace cmd_cite
}  // namespace

constexpr Verb cite_verb{
    .name = "cite",
    .summary = "print how to cite an asset",
    .examples = "sabath cite cosmoflow >> paper.bib",
    .details = "Exit code 3 when the recipe does not say.",
    .declare = declare<cite, cmd_cite::print>,
    .once = true,
};

}  // namespace sabath::cli
