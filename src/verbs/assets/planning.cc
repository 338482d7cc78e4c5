#include <nlohmann/json.hpp>

#include "sabath/catalogue.h"
#include "sabath/plan.h"
#include "verbs/assets/assets.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json sum_of(const FilesAndBytes& sum) { return {{"files", sum.files}, {"bytes", sum.bytes}}; }

Json asset_of(const PlannedAsset& asset) {
  Json sources = Json::array();
  for (const auto& source : asset.sources) {
    sources.push_back({{"fragment", text_or_null(source.fragment)},
                       {"url", source.url},
                       {"readable", source.readable},
                       {"size_bytes", or_null(source.size_bytes)},
                       {"expires_in_s", or_null(source.expires_in_s)},
                       {"expires_by", text_or_null(source.expires_by)},
                       {"problem", text_or_null(source.problem)}});
  }
  return {{"name", asset.name},
          {"kind", kind_name(asset.kind)},
          {"manifest", text_or_null(asset.manifest)},
          {"all", sum_of(asset.all)},
          {"by_source", sum_of(asset.by_source)},
          {"by_content", sum_of(asset.by_content)},
          {"by_chunk_bytes", asset.by_chunk_bytes},
          {"in_partials_bytes", asset.in_partials_bytes},
          {"to_fetch", sum_of(asset.to_fetch)},
          {"files_without_size", asset.files_without_size},
          {"lists", asset.lists},
          {"archives", asset.archives},
          {"store_bytes", asset.store_bytes},
          {"store_inodes", asset.store_inodes},
          {"biggest", {{"path", text_or_null(asset.biggest_path)}, {"bytes", asset.biggest_bytes}}},
          {"sources", std::move(sources)},
          {"steps", asset.steps},
          {"refused", asset.refused ? failure_json(*asset.refused) : Json(nullptr)}};
}

}  // namespace

Json json_of(const PlanRecord& record) {
  Json assets = Json::array(), limits = Json::array(), refusals = Json::array();
  for (const auto& asset : record.assets) assets.push_back(asset_of(asset));
  for (const auto& limit : record.limits) {
    limits.push_back({{"what", limit.what},
                      {"by", limit.by},
                      {"needed", limit.needed},
                      {"available", limit.available},
                      {"reserved", limit.reserved},
                      {"fits", or_null(limit.fits)}});
  }
  for (const auto& failure : record.refusals) refusals.push_back(failure_json(failure));
  return {{"schema", 1},
          {"store", record.store},
          {"fits", or_null(record.fits)},
          {"assets", std::move(assets)},
          {"bytes_to_fetch", record.bytes_to_fetch},
          {"store_bytes", record.store_bytes},
          {"store_inodes", record.store_inodes},
          {"sizes_known", record.sizes_known},
          {"limits", std::move(limits)},
          {"unknown", record.unknown},
          {"bytes_per_second", or_null(record.bytes_per_second)},
          {"seconds", or_null(record.seconds)},
          {"rate_by", text_or_null(record.rate_by)},
          {"walltime_left_s", or_null(record.walltime_left_s)},
          {"walltime_by", text_or_null(record.walltime_by)},
          {"requests", record.requests},
          {"warnings", record.warnings},
          {"refusals", std::move(refusals)},
          {"exit", record.exit}};
}

std::string to_json(const PlanRecord& record) { return text_of(json_of(record)); }

}  // namespace sabath
