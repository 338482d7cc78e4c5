#include <nlohmann/json.hpp>

#include "base/derivation.h"
#include "catalogues/tombstone.h"
#include "sabath/catalogue.h"
#include "sabath/metadata.h"
#include "verbs/records.h"

namespace sabath {

std::string_view access_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::open:
      return "public";
    case AccessKind::login:
      return "login";
    case AccessKind::restricted:
      break;
  }
  return "private";
}

std::optional<AccessKind> try_parse_access(std::string_view text) {
  for (const AccessKind kind : {AccessKind::open, AccessKind::login, AccessKind::restricted}) {
    if (access_name(kind) == text) return kind;
  }
  return std::nullopt;
}

std::string_view fragment_type_name(FragmentType type) {
  switch (type) {
    case FragmentType::file:
      return "file";
    case FragmentType::archive:
      return "archive";
    case FragmentType::file_list:
      break;
  }
  return "file_list";
}

std::optional<std::uint64_t> known_size(const Recipe& recipe) {
  std::uint64_t sum = 0;
  for (const Fragment& fragment : recipe.fragments) {
    // The size of a list is that of the list itself, not of what it lists.
    if (!fragment.size_bytes || fragment.type == FragmentType::file_list) return std::nullopt;
    sum += *fragment.size_bytes;
  }
  if (recipe.fragments.empty()) return std::nullopt;
  return sum;
}

AssetSummary summary_of(const Recipe& recipe, bool present) {
  return {.name = recipe.name,
          .kind = recipe.kind,
          .version = recipe.version,
          .access = recipe.access.kind,
          .size_bytes = known_size(recipe),
          .present = present,
          .packed = false,
          .stored_bytes = std::nullopt,
          .title = recipe.title};
}

namespace {

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
          {"size", value_or_null(fragment.size_bytes)},
          {"limit", value_or_null(fragment.limit)},
          {"checksum", std::move(sums)}};
}

Json git_record(const GitSource& git) {
  return {{"origin", git.origin},
          {"branch", text_or_null(git.branch)},
          {"tag", text_or_null(git.tag)},
          {"commit", text_or_null(git.commit)}};
}

Json summary_record(const AssetSummary& asset) {
  return {{"name", asset.name},
          {"kind", kind_name(asset.kind)},
          {"version", text_or_null(asset.version)},
          {"access", access_name(asset.access)},
          {"size", value_or_null(asset.size_bytes)},
          {"present", asset.present},
          {"title", text_or_null(asset.title)}};
}

Json description_record(const AssetDescription& asset) {
  const Recipe& recipe = asset.recipe;
  Json record = summary_record(summary_of(recipe, !asset.path.empty()));
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
  record["infer"] = Json::array();
  for (const auto& [dataset, steps] : recipe.infer) record["infer"].push_back(dataset);
  record["metadata"] = recipe.metadata;
  record.update(json_of(metadata_of(recipe)));
  record["supporting"] = Json::array();
  for (const SupportingScript& script : recipe.supporting) record["supporting"].push_back(script.id);
  record["derived"] = recipe.derived ? json_of(*recipe.derived) : Json();
  if (asset.lineage) {
    record["lineage"] = Json::array();
    for (const DerivationStep& step : *asset.lineage) record["lineage"].push_back(json_of(step));
  }
  record["recipe"] = recipe.origin;
  record["manifest"] = text_or_null(asset.manifest);
  record["trusted_by"] = text_or_null(asset.trusted_by);
  record["runs_by"] = text_or_null(asset.runs_by);
  record["path"] = text_or_null(asset.path.string());
  record["harvested"] =
      asset.harvested ? Json{{"files", asset.harvested->files}, {"facts", asset.harvested->facts}} : Json();
  record["document"] = text_or_null(asset.document);
  return record;
}

}  // namespace

Json json_of(const ListRecord& record) {
  Json json{{"schema", 1}, {"assets", Json::array()}, {"problems", Json::array()}, {"exit", record.exit}};
  for (const AssetSummary& asset : record.assets) {
    Json one = summary_record(asset);
    one["packed"] = asset.packed;
    one["stored_bytes"] = value_or_null(asset.stored_bytes);
    if (!asset.newer.empty()) one["newer"] = asset.newer;
    json["assets"].push_back(std::move(one));
  }
  for (const UnreadableRecipe& each : record.problems) {
    json["problems"].push_back({{"file", each.file}, {"problem", each.problem}});
  }
  if (record.found) json["found"] = *record.found;
  return json;
}

Json json_of(const InfoRecord& record) {
  Json json{{"schema", 1}, {"assets", Json::array()}, {"exit", record.exit}};
  for (const AssetDescription& asset : record.assets) json["assets"].push_back(description_record(asset));
  for (const Tombstone& stone : record.removed) {
    json["removed"].push_back(Json::parse(text_of_tombstone(stone)));
    json["removed"].back()["file"] = stone.file.string();
  }
  return json;
}

Json json_of(const CiteRecord& record) {
  Json json{{"schema", 1}, {"assets", Json::array()}, {"exit", record.exit}};
  for (const AssetCitations& asset : record.assets) {
    json["assets"].push_back({{"name", asset.name}, {"citation", asset.citations}});
  }
  return json;
}

Json json_of(const WhereRecord& record) {
  return {{"schema", 1},
          {"name", record.name},
          {"recipe", record.recipe},
          {"store", record.store.string()},
          {"manifest", text_or_null(record.manifest)},
          {"has_manifest", record.has_manifest},
          {"trusted_by", text_or_null(record.trusted_by)},
          {"source", text_or_null(record.source)},
          {"path", text_or_null(record.path.string())},
          {"packed", record.packed},
          {"exit", record.exit}};
}

std::string to_json(const ListRecord& record) { return text_of(json_of(record)); }
std::string to_json(const InfoRecord& record) { return text_of(json_of(record)); }
std::string to_json(const CiteRecord& record) { return text_of(json_of(record)); }
std::string to_json(const WhereRecord& record) { return text_of(json_of(record)); }

}  // namespace sabath
