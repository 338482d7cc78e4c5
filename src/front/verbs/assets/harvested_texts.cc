#include "verbs/assets/harvested_texts.h"

#include "base/text.h"
#include "session/harvest.h"

namespace sabath {
namespace {

constexpr std::size_t harvested_bytes_max = 256 * 1024;  // of one asset

}  // namespace

HarvestedTexts::HarvestedTexts(const Layout& layout) {
  for (const HarvestedFacts& facts : harvested(layout)) {
    Texts& texts = all_[{facts.kind, to_lower(facts.name)}];
    for (const std::string& line : facts.lines) {
      if (texts.text.size() + line.size() > harvested_bytes_max) break;
      texts.text += line + "\n";
      const std::size_t equals = line.find('=');
      const std::string key = line.substr(0, equals);
      if (key == "shape" || key.ends_with(".shape")) texts.attributes += "shape=" + line.substr(equals + 1) + "\n";
      if (key == "format") texts.attributes += to_lower(line) + "\n";
    }
    texts.lower = to_lower(texts.text);
  }
}

unsigned HarvestedTexts::fit(const RecipeQuery& query, const IndexEntry& entry) const {
  const auto found = all_.empty() ? all_.end() : all_.find({entry.kind, to_lower(entry.name)});
  if (found == all_.end()) return query.fit(entry);
  const Texts& texts = found->second;
  const std::string text = std::string(entry.text) + texts.text, lower = std::string(entry.lower) + texts.lower,
                    attributes = std::string(entry.attributes) + texts.attributes;
  IndexEntry whole = entry;
  whole.text = text;
  whole.lower = lower;
  whole.attributes = attributes;
  return query.fit(whole);
}

}  // namespace sabath
