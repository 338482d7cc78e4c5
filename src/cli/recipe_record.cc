#include "cli/recipe_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/render.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t value_bytes_max = 16'000;

Json size_or_null(const std::optional<std::uint64_t>& size) { return size ? Json(*size) : Json(nullptr); }

Json fragment_record(const Fragment& fragment) {
  Json urls = Json::array();
  for (const Url& url : fragment.urls) urls.push_back(url.display());
  Json sums;
  for (const auto& algorithm : checksum_algorithms)
    sums[std::string(algorithm.name)] = text_or_null(fragment.checksum.*algorithm.value);
  return {{"id", fragment.id},
          {"type", fragment_type_name(fragment.type)},
          {"path", fragment.path ? Json(fragment.path->text()) : Json(nullptr)},
          {"urls", std::move(urls)},
          {"size", size_or_null(fragment.size_bytes)},
          {"limit", size_or_null(fragment.limit)},
          {"checksum", std::move(sums)}};
}

Json git_record(const GitSource& git) {
  return {{"origin", git.origin},
          {"branch", text_or_null(git.branch)},
          {"tag", text_or_null(git.tag)},
          {"commit", text_or_null(git.commit)}};
}

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
  if (fragment.limit) what += fmt::format(", first {} files", *fragment.limit);
  what += ")";
  if (fragment.path) what += " at " + fragment.path->text();
  facts.add("fragment", what);
  for (const Url& url : fragment.urls) facts.add("", url.display());
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = fragment.checksum.*algorithm.value;
    if (!hex.empty()) return facts.add("", fmt::format("{} {}", algorithm.name, hex));
  }
}

}  // namespace

Json brief_record(const Recipe& recipe, const Holding& holding) {
  return {{"name", recipe.name},
          {"kind", kind_name(recipe.kind)},
          {"version", text_or_null(recipe.version)},
          {"access", access_name(recipe.access.kind)},
          {"size", size_or_null(known_size(recipe))},
          {"present", !holding.view.empty()},
          {"title", text_or_null(recipe.title)}};
}

Json full_record(const Recipe& recipe, const Holding& holding) {
  Json record = brief_record(recipe, holding);
  record["abstract"] = text_or_null(recipe.abstract_text);
  record["description"] = text_or_null(recipe.description);
  record["homepage"] = text_or_null(recipe.homepage);
  record["licence"] = text_or_null(recipe.licence);
  record["references"] = recipe.references;
  record["citation"] = recipe.citation;
  record["access_steps"] = recipe.access.steps;
  record["fragments"] = Json::array();
  for (const Fragment& fragment : recipe.fragments) record["fragments"].push_back(fragment_record(fragment));
  record["git"] = recipe.git ? git_record(*recipe.git) : Json(nullptr);
  record["forks"] = Json::array();
  for (const GitSource& fork : recipe.forks) record["forks"].push_back(git_record(fork));
  record["default_dataset"] = text_or_null(recipe.default_dataset);
  record["requirements"] = {{"python", text_or_null(recipe.requirements.python)},
                            {"pip", recipe.requirements.pip},
                            {"conda", recipe.requirements.conda},
                            {"system_modules", recipe.requirements.system_modules}};
  record["env_vars"] = recipe.env_vars;
  record["run"] = Json::array();
  for (const auto& [dataset, steps] : recipe.run) record["run"].push_back(dataset);
  record["metadata"] = recipe.metadata;
  record["recipe"] = recipe.origin;
  record["manifest"] = holding.root ? Json(holding.root->prefixed()) : Json(nullptr);
  record["trusted_by"] = text_or_null(holding.trusted_by);
  record["path"] = text_or_null(holding.view.string());
  return record;
}

std::string full_text(const Recipe& recipe, const Holding& holding, std::size_t width) {
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
  facts.add("abstract", recipe.abstract_text);
  facts.add("description", recipe.description);
  facts.add("references", recipe.references);
  for (const Fragment& fragment : recipe.fragments) add_fragment(facts, fragment);
  if (recipe.git) facts.add("git", recipe.git->origin + " " + version_of(*recipe.git));
  for (const GitSource& fork : recipe.forks) facts.add("fork", fork.origin + " " + version_of(fork));
  facts.add("dataset", recipe.default_dataset);
  for (const auto& [dataset, steps] : recipe.run) facts.add("runs on", dataset);
  facts.add("python", recipe.requirements.python);
  facts.add("pip", recipe.requirements.pip);
  facts.add("conda", recipe.requirements.conda);
  facts.add("modules", recipe.requirements.system_modules);
  for (const auto& [name, value] : recipe.env_vars) facts.add("variable", name + "=" + value);
  for (const auto& [key, value] : recipe.metadata) facts.add("fact", key + ": " + value);
  facts.add("recipe", recipe.origin);
  if (holding.root) facts.add("manifest", holding.root->prefixed());
  facts.add("trusted by", holding.trusted_by);
  facts.add("present", holding.view.empty() ? "no" : holding.view.string());
  return facts.take();
}

}  // namespace sabath::cli
