#include "index/query.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "index/text_search.h"

namespace sabath {
namespace {

constexpr unsigned same_name = 100, front_of_name = 60, in_name = 40, in_title = 25, in_text = 10, no_pattern = 1;

// True if one of the lines is this one.
bool has_line(std::string_view lines, std::string_view line) {
  for (std::size_t at = lines.find(line); at != std::string_view::npos; at = lines.find(line, at + 1)) {
    const std::size_t end = at + line.size();
    if ((at == 0 || lines[at - 1] == '\n') && (end == lines.size() || lines[end] == '\n')) return true;
  }
  return false;
}

// True if a line begins with `key` and holds `part` behind it.
bool has_part(std::string_view lines, std::string_view key, std::string_view part) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (line.starts_with(key) && line.find(part, key.size()) != std::string_view::npos) return true;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return false;
}

// A DOI as people write it: "https://doi.org/10.1/x", "doi:10.1/x".
std::string plain_doi(const std::string& text) {
  const std::string lower = to_lower(text);
  const auto begin = lower.find("10.");
  return begin == std::string::npos ? lower : lower.substr(begin);
}

// True if a line "shape=..." has a shape that fits.
bool has_shape(std::string_view lines, const ShapePattern& wanted) {
  constexpr std::string_view key = "shape=";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (line.starts_with(key) && wanted.fits(line.substr(key.size()))) return true;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return false;
}

}  // namespace

struct RecipeQuery::Term {
  std::string word;  // in lower case; empty: it is an expression
  TextSearch search;

  explicit Term(const std::string& pattern) : search(pattern) {
    const bool is_word = std::ranges::all_of(pattern, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
             std::string_view("-_=:/ ").find(c) != std::string_view::npos;
    });
    if (is_word) word = to_lower(pattern);
  }

  [[nodiscard]] bool in(std::string_view text, std::string_view lower) const {
    return word.empty() ? search.in_a_line_of(text)
                        : ::memmem(lower.data(), lower.size(), word.data(), word.size()) != nullptr;
  }

  [[nodiscard]] unsigned fit(const IndexEntry& entry) const {
    if (!in(entry.text, entry.lower)) return 0;
    const std::string name = to_lower(entry.name);
    if (name == word) return same_name;
    if (!word.empty() && name.starts_with(word)) return front_of_name;
    if (in(entry.name, name)) return in_name;
    return in(entry.title, to_lower(entry.title)) ? in_title : in_text;
  }
};

RecipeQuery::RecipeQuery(const RecipeFilter& filter) : filter_(filter) {
  for (const std::string& pattern : filter.patterns) terms_.push_back(std::make_unique<const Term>(pattern));
  if (!filter.licence.empty()) wanted_.push_back("licence=" + to_lower(filter.licence));
  if (!filter.doi.empty()) wanted_.push_back("doi=" + plain_doi(filter.doi));
  if (!filter.format.empty()) wanted_.push_back("format=" + to_lower(filter.format));
  if (!filter.shape.empty()) shape_ = ShapePattern::parse(filter.shape);
  for (const std::string& tag : filter.tags) {
    if (tag.find('=') != std::string::npos) wanted_.push_back("tag." + to_lower(tag));
  }
  filter_.author = to_lower(filter.author);
}

RecipeQuery::~RecipeQuery() = default;

bool RecipeQuery::passes(const IndexEntry& entry) const {
  if (filter_.kind && *filter_.kind != entry.kind) return false;
  if (filter_.access && *filter_.access != entry.access) return false;
  if (filter_.size_min && (!entry.size_bytes || *entry.size_bytes < *filter_.size_min)) return false;
  if (!std::ranges::all_of(wanted_, [&](const std::string& line) { return has_line(entry.attributes, line); }))
    return false;
  if (shape_ && !has_shape(entry.attributes, *shape_)) return false;
  for (const std::string& tag : filter_.tags) {
    if (tag.find('=') == std::string::npos && !has_part(entry.attributes, "tag." + to_lower(tag) + "=", ""))
      return false;
  }
  return filter_.author.empty() || has_part(entry.attributes, "author=", filter_.author);
}

unsigned RecipeQuery::fit(const IndexEntry& entry) const {
  if (!passes(entry)) return 0;
  unsigned sum = terms_.empty() ? no_pattern : 0;
  for (const auto& term : terms_) {
    const unsigned fit = term->fit(entry);
    if (fit == 0) return 0;
    sum += fit;
  }
  return sum;
}

}  // namespace sabath
