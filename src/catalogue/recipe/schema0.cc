// Schema 0: the recipes of the original SABATH, read as they are. Reference: docs/recipes.md.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "recipe/fields.h"

namespace sabath {
namespace {

std::vector<Url> take_urls_0(JsonObject& object) {
  std::vector<Url> urls;
  const JsonValue& value = object.require("url");
  if (const auto* list = value.get<JsonValue::Array>()) {
    for (const JsonValue& element : *list) urls.push_back(parse_url_at(element, object.origin()));
    if (urls.empty()) object.fail("url", "is an empty list");
  } else {
    urls.push_back(parse_url_at(value, object.origin()));
  }
  return urls;
}

Fragment read_fragment_0(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a fragment");
  Fragment fragment;
  fragment.id = take_name(object, "id");
  fragment.urls = take_urls_0(object);
  fragment.type = take_fragment_type(object);
  fragment.limit = object.try_uint("limit");
  if (fragment.limit == 0u) object.fail("limit", "must be at least 1");
  fragment.size_bytes = object.try_uint("size");
  fragment.checksum = take_checksums(object);
  object.finish();
  return fragment;
}

// The original kept each fragment in a directory of its own, so names could not collide. Here they share a view: a file
// stands under its own name if that is free, else in a directory named after its fragment; so do archives and lists
// when there are several.
void place(std::vector<Fragment>& fragments) {
  std::multiset<std::string> names;
  std::size_t directories = 0;
  for (const Fragment& fragment : fragments) {
    directories += fragment.type != FragmentType::file;
    if (const auto path = default_file_path(fragment); path && fragment.type == FragmentType::file)
      names.insert(path->text());
  }
  for (Fragment& fragment : fragments) {
    const RelativePath id = RelativePath::parse(fragment.id);
    if (fragment.type != FragmentType::file) {
      if (directories > 1) fragment.path = id;
      continue;
    }
    const std::optional<RelativePath> path = default_file_path(fragment);
    fragment.path = !path ? id : names.count(path->text()) > 1 ? id / *path : *path;
  }
}

void read_fragments_0(JsonObject& object, Recipe& recipe) {
  const JsonValue::Array* array = object.try_array("fragments");
  if (array == nullptr) {
    if (recipe.kind == AssetKind::dataset) (void)object.require("fragments");
    return;
  }
  std::vector<std::size_t> lines;
  for (const JsonValue& value : *array) {
    recipe.fragments.push_back(read_fragment_0(value, object.origin()));
    lines.push_back(value.line);
  }
  if (recipe.fragments.empty()) object.fail("fragments", "is empty");
  place(recipe.fragments);
  settle_fragments(recipe.fragments, lines, object.origin());
}

void read_git_and_forks_0(JsonObject& object, Recipe& recipe) {
  if (auto git = object.try_object("git", "\"git\"")) {
    recipe.git = read_git(*git);
    // One recipe names a second repository beside its own; nothing here needs it, so it is kept as a fact.
    if (const JsonValue* stray = git->find("PnetCDF")) {
      recipe.metadata["git.PnetCDF"] = parse_git_origin(*stray, object.origin());
    }
    git->finish();
  }
  if (const JsonValue::Array* forks = object.try_array("forks")) {
    for (const JsonValue& value : *forks) {
      JsonObject fork(value, object.origin(), "a fork");
      (void)fork.require("git");
      for (const JsonValue& origin : *fork.try_array("git")) {
        recipe.forks.push_back({parse_git_origin(origin, object.origin()), {}, {}, {}});
      }
      fork.finish();
    }
  }
}

void read_run(JsonObject& object, Recipe& recipe) {
  const auto run = object.try_object("run", "\"run\"");
  if (!run) return;
  for (const JsonMember& set : run->members()) {
    if (!is_name(set.key)) throw_at(object.origin(), set.line, "the key of a run set must be a name");
    const auto* commands = set.value.get<JsonValue::Array>();
    if (commands == nullptr || commands->empty()) {
      throw_at(object.origin(), set.line, fmt::format("run set \"{}\" must be a list of commands, not empty", set.key));
    }
    std::vector<Step> steps;
    for (const JsonValue& command : *commands) {
      check_template(command, object.origin());
      if (command.get<std::string>()->empty()) throw_at(object.origin(), command.line, "a command is empty");
      steps.push_back({{*command.get<std::string>()}, true});
    }
    recipe.run.emplace_back(set.key, std::move(steps));
  }
}

}  // namespace

Recipe read_schema_0(const JsonValue& document, std::string_view origin, AssetKind kind) {
  JsonObject object(document, origin, "a recipe of schema 0");
  (void)object.try_uint("schema");
  Recipe recipe;
  recipe.schema = 0;
  recipe.kind = kind;
  recipe.origin = origin;
  recipe.name = take_name(object, "name");
  recipe.abstract_text = object.try_text("abstract").value_or("");
  recipe.description = object.try_text("description").value_or("");
  recipe.homepage = take_line(object, "homepage");
  recipe.references = take_lines(object, "references");
  recipe.requirements = take_requirements(object, false);
  recipe.env_vars = take_env_vars(object);
  read_fragments_0(object, recipe);
  read_git_and_forks_0(object, recipe);
  read_run(object, recipe);
  object.finish();
  return recipe;
}

}  // namespace sabath
