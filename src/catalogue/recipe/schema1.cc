// Schema 1. Reference: docs/recipes.md.
#include <fmt/format.h>

#include <algorithm>

#include "recipe/fields.h"
#include "recipe/metadata.h"
#include "recipe/naming.h"
#include "recipe/run_sets.h"
#include "recipe/supporting.h"
#include "sabath/error.h"

namespace sabath {
namespace {

AssetKind take_kind(JsonObject& object) {
  const std::string kind = object.text("kind");
  if (const auto known = try_parse_kind(kind)) return *known;
  std::string words;
  for (const KindName& each : kind_names) words += fmt::format("{}\"{}\"", words.empty() ? "" : ", ", each.name);
  object.fail("kind", fmt::format("is \"{}\", but must be one of {}", printable(kind), words));
}

// Optional keys that hold a name or nothing.
std::string try_take_name(JsonObject& object, std::string_view key) {
  return object.find(key) == nullptr ? std::string() : take_name(object, key);
}

std::string take_homepage(JsonObject& object) {
  const JsonValue* value = object.find("homepage");
  return value == nullptr ? std::string() : parse_url_at(*value, object.origin()).text();
}

std::string take_licence(JsonObject& object) {
  std::string licence = take_line(object, "licence");
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view(".+-:() ").find(c) != std::string_view::npos;
  };
  if (licence.size() > 256 || !std::all_of(licence.begin(), licence.end(), allowed)) {
    object.fail("licence", "is no SPDX expression",
                "write an identifier such as \"BSD-3-Clause\", or null if it is not known");
  }
  return licence;
}

std::vector<Url> take_urls(JsonObject& object) {
  std::vector<Url> urls;
  if (const JsonValue::Array* array = object.try_array("urls")) {
    for (const JsonValue& value : *array) urls.push_back(parse_url_at(value, object.origin()));
  }
  return urls;
}

Access take_access(JsonObject& object) {
  Access access;
  if (auto inner = object.try_object("access", "\"access\"")) {
    const std::string kind = inner->text("kind");
    if (kind == "login") {
      access.kind = AccessKind::login;
    } else if (kind == "private") {
      access.kind = AccessKind::restricted;
    } else if (kind != "public") {
      inner->fail("kind", fmt::format("is \"{}\", but must be \"public\", \"login\" or \"private\"", printable(kind)));
    }
    access.steps = take_lines(*inner, "steps");
    inner->finish();
  }
  return access;
}

std::optional<Reach> take_reach(JsonObject& object) {
  const auto name = object.try_text("reach");
  if (!name) return std::nullopt;
  const auto reach = try_parse_reach(*name);
  if (!reach) {
    object.fail("reach", fmt::format("is \"{}\", but must be \"public\", \"site\" or \"machine\"", printable(*name)));
  }
  return reach;
}

HostLimits take_limits(JsonObject& object) {
  constexpr std::uint64_t connections_max = 1024;
  auto inner = object.try_object("limits", "\"limits\"");
  if (!inner) return {};
  const auto connections = inner->try_uint("connections");
  if (connections == 0u || connections > connections_max)
    inner->fail("connections", fmt::format("must be from 1 to {}", connections_max));
  const auto rate = inner->try_size("limit_rate");
  if (rate == 0u) inner->fail("limit_rate", "must be at least 1");
  inner->finish();
  return {static_cast<unsigned>(connections.value_or(0)), rate.value_or(0)};
}

std::optional<RelativePath> take_path(JsonObject& object, const Fragment& fragment) {
  if (const std::optional<std::string> text = object.try_text("path")) {
    std::optional<RelativePath> path = RelativePath::try_parse(*text);
    if (!path) object.fail("path", fmt::format("\"{}\" is no relative path inside the asset", printable(*text)));
    return path;
  }
  if (fragment.type != FragmentType::file) return std::nullopt;
  std::optional<RelativePath> path = default_file_path(fragment);
  if (!path) object.fail("urls", "end in no usable file name", "give the fragment a \"path\"");
  return path;
}

void refuse_bare_checksum(const JsonObject& fragment) {
  for (const auto& member : fragment.members()) {
    if (std::ranges::none_of(checksum_algorithms, [&](const auto& known) { return known.name == member.key; }))
      continue;
    fragment.fail(member.key, "is outside of \"checksum\"",
                  fmt::format(R"(write "checksum": {{"{}": "..."}})", member.key));
  }
}

Fragment read_fragment(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a fragment");
  Fragment fragment;
  fragment.id = take_name(object, "id");
  if (fragment.id.ends_with(".dir")) object.fail("id", "ends in \".dir\", which {dataset.ID.dir} could not tell apart");
  fragment.type = take_fragment_type(object);
  fragment.urls = take_urls(object);
  if (fragment.urls.empty()) object.fail("urls", "must name at least one URL");
  fragment.path = take_path(object, fragment);
  fragment.size_bytes = object.try_uint("size");
  fragment.limit = object.try_uint("limit");
  if (fragment.limit && fragment.type != FragmentType::file_list)
    object.fail("limit", "is only for type \"file_list\"");
  if (fragment.limit == 0u) object.fail("limit", "must be at least 1");
  fragment.checksum = take_checksums(object);
  refuse_bare_checksum(object);
  object.finish();
  return fragment;
}

// Libraries and the like may come from git alone.
bool has_git(JsonObject& object, AssetKind kind) {
  const JsonValue* git = kind == AssetKind::dataset ? nullptr : object.find("git");
  return git != nullptr && !git->is_null();
}

void read_fragments(JsonObject& object, Recipe& recipe) {
  std::vector<std::size_t> lines;
  if (const JsonValue::Array* array = object.try_array("fragments")) {
    for (const JsonValue& value : *array) {
      recipe.fragments.push_back(read_fragment(value, object.origin()));
      lines.push_back(value.line);
    }
  }
  settle_fragments(recipe.fragments, lines, object.origin());
  const bool by_hand = recipe.access.kind != AccessKind::open && !recipe.access.steps.empty();
  if (!is_code(recipe.kind) && recipe.fragments.empty() && !by_hand && !has_git(object, recipe.kind)) {
    object.fail("fragments", "must not be empty",
                fmt::format("only a {} whose \"access\" is \"login\" or \"private\", with steps, may have none",
                            kind_name(recipe.kind)));
  }
}

std::optional<ManifestPin> take_manifest(JsonObject& object) {
  auto inner = object.try_object("manifest", "\"manifest\"");
  if (!inner) return std::nullopt;
  ManifestPin pin;
  const std::string digest = inner->text("digest");
  const std::optional<Sha256> parsed = digest.starts_with("sha256:") ? Sha256::try_parse(digest) : std::nullopt;
  if (!parsed) inner->fail("digest", "must be \"sha256:\" and 64 hexadecimal digits");
  pin.digest = *parsed;
  pin.urls = take_urls(*inner);
  const std::string date = inner->try_text("date").value_or("");  // for people: when it was pinned
  if (!date.empty() && !is_date(date)) inner->fail("date", fmt::format("\"{}\" is no date", printable(date)));
  inner->finish();
  return pin;
}

void read_git_and_forks(JsonObject& object, Recipe& recipe) {
  if (auto git = object.try_object("git", "\"git\"")) {
    recipe.git = read_git(*git);
    git->finish();
  }
  if (const JsonValue::Array* forks = object.try_array("forks")) {
    for (const JsonValue& value : *forks) {
      JsonObject fork(value, object.origin(), "a fork");
      recipe.forks.push_back(read_git(fork));
      fork.finish();
    }
  }
}

}  // namespace

Recipe read_schema_1(const JsonValue& document, std::string_view origin) {
  JsonObject object(document, origin, "a recipe of schema 1");
  (void)object.require("schema");
  (void)take_line(object, "$schema");  // for editors
  Recipe recipe;
  recipe.origin = origin;
  recipe.kind = take_kind(object);
  recipe.name = take_name(object, "name");
  recipe.version = try_take_name(object, "version");
  recipe.title = take_line(object, "title");
  recipe.abstract_text = object.try_text("abstract").value_or("");
  recipe.description = object.try_text("description").value_or("");
  recipe.homepage = take_homepage(object);
  recipe.licence = take_licence(object);
  recipe.citation = object.texts("citation");
  recipe.references = take_lines(object, "references");
  recipe.access = take_access(object);
  recipe.limits = take_limits(object);
  read_fragments(object, recipe);
  recipe.manifest = take_manifest(object);
  read_git_and_forks(object, recipe);
  recipe.reach = take_reach(object);
  if (recipe.reach) name_sources(recipe, Namer{.reach = *recipe.reach});
  recipe.requirements = take_requirements(object, true);
  recipe.env_vars = take_env_vars(object);
  read_run_sets(object, recipe);
  recipe.metadata = take_facts(object, "metadata");
  recipe.about = take_metadata(object, recipe.kind);
  read_supporting(object, recipe);
  object.finish();
  return recipe;
}

}  // namespace sabath
