// BibTeX: the recipe's own entries; without one, an entry made of what else it says.
#include <fmt/format.h>

#include "metadata/terms.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// Braces keep a text as it is; characters that TeX would read are spelt for it.
std::string tex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("#$%&_").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else if (c == '\\' || c == '~' || c == '^') {
      out += c == '\\' ? "\\textbackslash{}" : c == '~' ? "\\textasciitilde{}" : "\\textasciicircum{}";
    } else if (c == '{' || c == '}') {
      out += c == '{' ? "\\{" : "\\}";
    } else {
      out += c == '\n' || c == '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string made_entry(const Recipe& recipe) {
  const Metadata& data = metadata_of(recipe);
  std::string authors;
  for (const Party& party : data.creators) {
    const bool whole = party.organization || party.family().empty();
    authors += (authors.empty() ? "" : " and ") + (whole ? fmt::format("{{{}}}", tex(party.name)) : tex(party.name));
  }
  std::string key;
  for (const char c : recipe.name) key += c == '+' ? '-' : c;
  std::string entry =
      fmt::format("@misc{{{},\n  author = {{{}}},\n  title = {{{}}}", key, authors, tex(terms::title(recipe)));
  const auto add = [&](std::string_view field, std::string_view value) {
    if (!value.empty()) entry += fmt::format(",\n  {} = {{{}}}", field, value);
  };
  add("year", std::string_view(data.published).substr(0, 4));
  add("version", recipe.version);
  add("doi", data.doi);
  add("url", recipe.homepage);
  return entry + "\n}";
}

std::string write_bibtex(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  std::vector<std::string> entries = terms::bibtex_entries(recipe);
  if (entries.empty()) {
    if (metadata_of(recipe).creators.empty())
      throw Error(FailureKind::not_found,
                  fmt::format("the recipe of {} has no BibTeX in \"citation\", and no \"creators\" to make an entry of",
                              printable(recipe.name)),
                  recipe.homepage.empty() ? "" : "see " + recipe.homepage);
    entries.push_back(made_entry(recipe));
  }
  return fmt::format("{}\n", fmt::join(entries, "\n\n"));
}

}  // namespace

extern constexpr MetadataFormat bibtex_format{"bibtex", "the citation", true, write_bibtex};

}  // namespace sabath
