// CITATION.cff 1.2.0. Each text is a quoted scalar: YAML reads JSON's strings as they are.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metadata/terms.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

std::string yaml_text(std::string_view text) {
  return terms::Json(text).dump(-1, ' ', false, terms::Json::error_handler_t::replace);
}

std::string author(const Party& party) {
  if (party.organization) return fmt::format("  - name: {}\n", yaml_text(party.name));
  std::string lines = party.family().empty() ? fmt::format("  - alias: {}\n", yaml_text(party.name))
                                             : fmt::format("  - family-names: {}\n    given-names: {}\n",
                                                           yaml_text(party.family()), yaml_text(party.given()));
  if (!party.orcid.empty()) lines += fmt::format("    orcid: {}\n", yaml_text("https://orcid.org/" + party.orcid));
  if (!party.affiliation.empty()) lines += fmt::format("    affiliation: {}\n", yaml_text(party.affiliation));
  return lines;
}

std::string write_cff(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  if (data.creators.empty())
    throw Error(
        FailureKind::not_found,
        fmt::format("the recipe of {} names no \"creators\", which CITATION.cff demands", printable(recipe.name)));
  std::string text = "cff-version: 1.2.0\nmessage: \"Please cite it as below.\"\n";
  text += fmt::format("type: {}\n", recipe.kind == AssetKind::dataset ? "dataset" : "software");
  text += fmt::format("title: {}\n", yaml_text(terms::title(recipe)));
  text += "authors:\n";
  for (const Party& party : data.creators) text += author(party);
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", key, yaml_text(value));
  };
  add("version", recipe.version);
  add("doi", data.doi);
  if (data.published.size() == 10) add("date-released", data.published);
  if (!terms::licence_url(recipe).empty()) add("license", recipe.licence);
  add(recipe.git ? "repository-code" : "url",
      recipe.git && recipe.git->origin.starts_with("http") ? recipe.git->origin : recipe.homepage);
  if (!recipe.abstract_text.empty()) add("abstract", recipe.abstract_text);
  if (!data.keywords.empty()) text += "keywords:\n";
  for (const std::string& word : data.keywords) text += fmt::format("  - {}\n", yaml_text(word));
  return text;
}

}  // namespace

extern constexpr MetadataFormat cff_format{"cff", "CITATION.cff 1.2.0", false, write_cff};

}  // namespace sabath
