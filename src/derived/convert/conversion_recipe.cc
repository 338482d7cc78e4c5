#include "convert/conversion_recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/derivation.h"
#include "base/wording.h"
#include "run/commands.h"

namespace sabath {
namespace {

void add_new(std::vector<std::string>& all, const std::string& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

std::string name_of(const ConversionSource& source) { return source.recipe ? source.recipe->name : source.name; }

// Each asset once, however many of its models are sources.
std::vector<std::string> parents_of(const std::vector<ConversionSource>& sources) {
  std::vector<std::string> parents;
  for (const ConversionSource& source : sources) {
    const Sha256& is = source.root ? *source.root : source.digest;
    add_new(parents, fmt::format("{} {}", name_of(source), is.prefixed()));
  }
  return parents;
}

std::string title_of(const std::vector<ConversionSource>& sources) {
  std::vector<std::string> titles;
  for (const ConversionSource& source : sources) {
    const bool titled = source.recipe && !source.recipe->title.empty();
    add_new(titles, titled ? source.recipe->title : source.name);
  }
  return fmt::format("{}", fmt::join(titles, " and "));
}

// An SPDX expression: all of them hold. Empty: a source states none.
std::string licence_of(const std::vector<ConversionSource>& sources) {
  std::vector<std::string> licences;
  for (const ConversionSource& source : sources) {
    if (!source.recipe || source.recipe->licence.empty()) return "";
    add_new(licences, source.recipe->licence);
  }
  if (licences.size() < 2) return licences.empty() ? "" : licences.front();
  for (std::string& licence : licences) {
    if (licence.find(' ') != std::string::npos) licence = "(" + licence + ")";
  }
  return fmt::format("{}", fmt::join(licences, " AND "));
}

// A page of one asset says nothing of a merged one.
std::string homepage_of(const std::vector<ConversionSource>& sources) {
  const std::string page = sources.front().recipe ? sources.front().recipe->homepage : "";
  const auto same = [&](const ConversionSource& source) { return source.recipe && source.recipe->homepage == page; };
  return std::ranges::all_of(sources, same) ? page : "";
}

std::vector<std::string> lines_of(const std::vector<ConversionSource>& sources,
                                  std::vector<std::string> Recipe::*member) {
  std::vector<std::string> lines;
  for (const ConversionSource& source : sources) {
    if (!source.recipe) continue;
    for (const std::string& line : (*source.recipe).*member) add_new(lines, line);
  }
  return lines;
}

nlohmann::ordered_json text_or_nothing(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace

DerivationStep conversion_step(const std::vector<ConversionSource>& sources, const ConvertRequest& request,
                               const Sha256& key, const std::string& verdict) {
  const ConversionSource& first = sources.front();
  DerivationStep step{.from = name_of(first),
                      .input = first.root ? *first.root : first.digest,
                      .script = "convert",
                      .script_root = first.engine.digest.prefixed(),
                      .arguments = {},
                      .tools = {},
                      .key = key};
  for (const ConversionSource& source : sources) {
    step.arguments[source.name] = fmt::format("{} of {}", source.digest.prefixed(), source.engine.name);
    for (const auto& [name, version] : source.tools) step.tools[name] = version;
  }
  const auto parents = parents_of(sources);
  if (parents.size() > 1) step.arguments["parents"] = fmt::format("{}", fmt::join(parents, ", "));
  step.arguments["opset"] = fmt::to_string(request.opset.value_or(first.engine.opset));
  step.arguments["verdict"] = verdict;
  return step;
}

std::string conversion_recipe(const std::vector<ConversionSource>& sources, const ConvertRequest& request,
                              const std::string& name, const Sha256& root, const DerivationStep& step) {
  using Json = nlohmann::ordered_json;
  std::string models;
  for (const ConversionSource& source : sources) models += (models.empty() ? "" : ",") + source.asked.model;
  const std::string again =
      fmt::format("convert {} again{}: {} {}", sources.size() == 1 ? "it" : "them",
                  request.merge ? ", merged to one graph" : "", verb_text("convert"), shell_line({models}));
  const Json recipe = {
      {"schema", 1},
      {"kind", "model"},
      {"name", name},
      {"title", fmt::format("{} converted to ONNX: {}", title_of(sources), step.arguments.at("verdict"))},
      {"homepage", text_or_nothing(homepage_of(sources))},
      {"licence", text_or_nothing(licence_of(sources))},
      {"citation", lines_of(sources, &Recipe::citation)},
      {"references", lines_of(sources, &Recipe::references)},
      {"access", {{"kind", "private"}, {"steps", {again}}}},
      {"fragments", Json::array()},
      {"manifest", {{"digest", root.prefixed()}, {"urls", Json::array()}}},
      {"derived", json_of(step)}};
  return recipe.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sabath
