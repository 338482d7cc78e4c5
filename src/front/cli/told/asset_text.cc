#include "cli/told/asset_text.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/show/render.h"
#include "cli/told/trusted_by.h"
#include "sabath/metadata.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr std::size_t value_bytes_max = 16'000;

std::string version_of(const GitSource& git) {
  return !git.commit.empty() ? git.commit : !git.tag.empty() ? git.tag : git.branch;
}

// Lines of "key   value", long values wrapped under themselves.
class Facts {
 public:
  explicit Facts(std::size_t width) : width_(width) {}
  void add(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    constexpr std::size_t column = 14;
    std::string lines = wrap(printable_lines(value), width_, std::string(column, ' '));
    if (lines.size() > key.size()) lines.replace(0, key.size(), key);
    text_ += lines;
  }
  void add(std::string_view key, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      add(key, value);
      key = "";
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  static std::string printable_lines(std::string_view value) {
    std::string result;
    while (!value.empty()) {
      const auto end = value.find('\n');
      result += printable(value.substr(0, end), value_bytes_max) + "\n";
      value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
    }
    return result;
  }
  std::size_t width_;
  std::string text_;
};

void add_fragment(Facts& facts, const Fragment& fragment) {
  std::string what = fmt::format("{} ({}", fragment.id, fragment_type_name(fragment.type));
  if (fragment.size_bytes) what += ", " + format_bytes(*fragment.size_bytes);
  if (fragment.limit) what += fmt::format(", first {}", counted(*fragment.limit, "file"));
  what += ")";
  if (fragment.path) what += " at " + fragment.path->text();
  facts.add("fragment", what);
  for (const Url& url : fragment.urls) facts.add("", url.display());
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = fragment.checksum.*algorithm.value;
    if (!hex.empty()) return facts.add("", fmt::format("{} {}", algorithm.name, hex));
  }
}

std::string shape_of(const Variable& variable) {
  if (!variable.shape) return "";
  std::string text;
  for (const auto& axis : *variable.shape) text += (text.empty() ? "" : ", ") + (axis ? fmt::to_string(*axis) : "?");
  return "(" + text + ")";
}

std::string joined(const std::vector<std::string>& all) { return fmt::format("{}", fmt::join(all, ", ")); }

void add_metadata(Facts& facts, const Metadata& data) {
  facts.add("id", data.id);
  facts.add("doi", data.doi);
  facts.add("published", data.published);
  constexpr std::size_t shown_max = 8;
  std::vector<std::string> names;
  for (const Party& party : data.creators) names.push_back(party.shown());
  if (names.size() > shown_max) {
    const std::size_t more = names.size() - shown_max;
    names.resize(shown_max);
    names.push_back(fmt::format("and {} more", more));
  }
  facts.add("creators", joined(names));
  if (data.submitter) facts.add("submitter", data.submitter->shown());
  facts.add("keywords", joined(data.keywords));
  for (const auto& [key, value] : data.tags) facts.add("tag", key + "=" + value);
  for (const RelatedAsset& each : data.related) facts.add("related", each.relation + " " + each.target);
  facts.add("formats", joined(data.format.names));
  for (const Variable& each : data.format.variables)
    facts.add("array", fmt::format("{} {} {} {}", each.name, each.dtype, shape_of(each), each.unit));
  facts.add("framework", data.model.framework);
  for (const auto& [key, reason] : data.unknown) facts.add("not known", key + ": " + reason);
}

// One step: what it was made of, by what.
void add_step(Facts& facts, const DerivationStep& step) {
  facts.add("derived from", fmt::format("{} {}", step.from, step.input.prefixed()));
  std::string by = "by " + step.script;
  for (const auto& [name, value] : step.arguments) by += fmt::format(" {}={}", name, value);
  facts.add("", by);
  for (const auto& [name, version] : step.tools) facts.add("", fmt::format("with {} {}", name, version));
  if (!step.script_root.empty()) facts.add("", fmt::format("its code {}", step.script_root));
}

// The first of them: --json has all.
void add_harvested(Facts& facts, const AssetDescription& asset) {
  if (!asset.harvested) return;
  constexpr std::size_t shown_max = 12;
  std::vector<std::string> lines = asset.harvested->facts;
  if (lines.size() > shown_max) {
    const std::size_t more = lines.size() - shown_max;
    lines.resize(shown_max);
    lines.push_back(fmt::format("and {} more", more));
  }
  facts.add("its files say", lines);
}

}  // namespace

std::string text_of(const AssetDescription& asset, std::size_t width) {
  const Recipe& recipe = asset.recipe;
  Facts facts(width);
  facts.add("name", recipe.name);
  facts.add("kind", kind_name(recipe.kind));
  facts.add("title", recipe.title);
  facts.add("version", recipe.version);
  if (const auto size = known_size(recipe)) facts.add("size", format_bytes(*size));
  facts.add("access", access_name(recipe.access.kind));
  facts.add("", recipe.access.steps);
  facts.add("licence", recipe.licence);
  facts.add("homepage", recipe.homepage);
  add_metadata(facts, metadata_of(recipe));
  facts.add("abstract", recipe.abstract_text);
  facts.add("description", recipe.description);
  facts.add("references", recipe.references);
  for (const Fragment& fragment : recipe.fragments) add_fragment(facts, fragment);
  if (recipe.git) facts.add("git", recipe.git->origin + " " + version_of(*recipe.git));
  for (const GitSource& fork : recipe.forks) facts.add("fork", fork.origin + " " + version_of(fork));
  facts.add("dataset", recipe.default_dataset);
  for (const auto& [dataset, steps] : recipe.run) facts.add("runs on", dataset);
  facts.add("python", recipe.requirements.python);
  facts.add("environment", recipe.requirements.environment);
  facts.add("pip", recipe.requirements.pip);
  facts.add("conda", recipe.requirements.conda);
  facts.add("modules", recipe.requirements.system_modules);
  for (const RecipeCheck& check : recipe.requirements.checks) facts.add("check", check.text());
  for (const auto& [name, value] : recipe.env_vars) facts.add("variable", name + "=" + value);
  for (const auto& [key, value] : recipe.metadata) facts.add("fact", key + ": " + value);
  for (const SupportingScript& script : recipe.supporting) facts.add("script", script.id);
  if (asset.lineage) {
    for (const DerivationStep& step : *asset.lineage) add_step(facts, step);
  } else if (recipe.derived) {
    add_step(facts, *recipe.derived);
  }
  facts.add("recipe", recipe.origin);
  facts.add("manifest", asset.manifest);
  facts.add("trusted by", trusted_by_text(asset.trusted_by, recipe.manifest.has_value()));
  if (asset.runs_by == "asks") facts.add("code", "asks before it runs (docs/trust.md)");
  if (asset.runs_by != "asks" && !asset.runs_by.empty()) facts.add("code", "runs: " + asset.runs_by);
  facts.add("present", asset.path.empty() ? "no" : asset.path.string());
  add_harvested(facts, asset);
  return facts.take();
}

std::string text_of(const Tombstone& stone, std::size_t width) {
  Facts facts(width);
  facts.add("name", stone.name);
  facts.add("kind", kind_name(stone.kind));
  facts.add("removed", stone.removed);
  facts.add("why", stone.why);
  facts.add("title", stone.title);
  facts.add("version", stone.version);
  facts.add("id", stone.id);
  facts.add("doi", stone.doi);
  facts.add("manifest", stone.manifest);
  facts.add("licence", stone.licence);
  facts.add("citation", stone.citation);
  facts.add("tombstone", stone.file.string());
  return facts.take();
}

}  // namespace sabath::cli
