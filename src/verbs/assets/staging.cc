#include <nlohmann/json.hpp>

#include "sabath/session.h"
#include "sabath/stage.h"
#include "verbs/assets/stage_forecast.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

Json record_of(const StagedAsset& asset) {
  Json failed = Json::array();
  for (const FailedNode& node : asset.failed_nodes) {
    failed.push_back({{"node", node.node},
                      {"host", node.host},
                      {"kind", name(node.failure.kind)},
                      {"message", node.failure.message}});
  }
  Json phases = Json::object();
  for (const auto& [phase, seconds] : asset.phases) phases[phase] = seconds;
  Json record{{"name", asset.name},
              {"manifest", text_or_null(asset.manifest)},
              {"path", text_or_null(asset.path)},
              {"verified_by", asset.verified_by},
              {"mode", asset.mode},
              {"selection", asset.selection},
              {"nodes", asset.nodes},
              {"ranks", asset.ranks},
              {"readers", asset.readers},
              {"files", asset.files},
              {"bytes", asset.bytes},
              {"bytes_from_shared", asset.bytes_from_shared},
              {"bytes_from_origin", asset.bytes_from_origin},
              {"bytes_from_peers", asset.bytes_from_peers},
              {"bytes_present", asset.bytes_present},
              {"seconds", asset.seconds},
              {"phases", phases},
              {"stragglers", asset.stragglers},
              {"failed_nodes", failed}};
  if (asset.failure) record["failure"] = failure_json(*asset.failure);
  return record;
}

unsigned small_number(JsonObject& object, std::string_view key, unsigned otherwise) {
  constexpr std::uint64_t number_max = 1'000'000;
  const auto value = object.try_uint(key);
  if (value && *value > number_max) object.fail(key, "is more than 1000000");
  return static_cast<unsigned>(value.value_or(otherwise));
}

StageRequest read_stage_request(JsonObject& object) {
  StageRequest request;
  request.names = object.texts("names");
  request.to = object.texts("to");
  const std::string mode = object.try_text("mode").value_or("replicate");
  if (mode != "replicate" && mode != "shard") object.fail("mode", "is neither replicate nor shard");
  request.mode = mode == "shard" ? StageMode::shard : StageMode::replicate;
  request.seed = object.try_uint("seed").value_or(request.seed);
  request.overlap = small_number(object, "overlap", request.overlap);
  request.per_rank = object.flag("per_rank");
  request.readers_max = small_number(object, "readers", request.readers_max);
  request.allow_partial = small_number(object, "allow_partial", request.allow_partial);
  request.threads = small_number(object, "threads", request.threads);
  request.select = object.texts("select");
  request.blocks = object.try_text("blocks").value_or("");
  request.filter = object.try_text("filter").value_or("");
  const std::string layout = object.try_text("layout").value_or("files");
  if (layout != "files" && layout != "hf") object.fail("layout", "is neither files nor hf");
  request.hub_layout = layout == "hf";
  request.repository = object.try_text("repo").value_or("");
  request.no_fetch = object.flag("no_fetch");
  request.bypass_shared = object.flag("bypass_shared");
  return request;
}

}  // namespace

Json json_of(const StageRecord& record) {
  Json assets = Json::array();
  for (const StagedAsset& asset : record.assets) assets.push_back(record_of(asset));
  return {{"schema", 1}, {"assets", std::move(assets)}, {"exit", record.exit}};
}

std::string to_json(const StageRecord& record) { return text_of(json_of(record)); }

Json call_stage(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  const StageRequest request = read_stage_request(object);
  const auto machine = object.try_text("simulate");
  object.finish();
  if (machine) return json_of(forecast_stage(stage_model(session, *machine, request, stop), stop));
  if (request.names.empty()) object.fail("names", "names nothing to stage");
  return json_of(session.stage(request, events, std::move(stop)));
}

}  // namespace sabath
