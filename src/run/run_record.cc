#include "run/run_record.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t recipe_file_size_max = 4 << 20;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string_view name_of(AssetKind kind) {
  return kind == AssetKind::dataset ? "dataset" : kind == AssetKind::model ? "model" : "workflow";
}

Json to_json(const RunAsset& asset) {
  return {{"name", asset.name},
          {"kind", name_of(asset.kind)},
          {"manifest", or_null(asset.manifest)},
          {"verified_by", asset.verified_by},
          {"path", or_null(asset.path)},
          {"warm", asset.warm}};
}

// The code that ran: what the model's source tree was.
Json source_of(const RunRecord& record) {
  for (const RunAsset& asset : record.assets) {
    if (asset.kind == AssetKind::dataset) continue;
    return {{"commit", or_null(asset.commit)},
            {"origin", record.recipe.git ? Json(record.recipe.git->origin) : Json(nullptr)},
            {"manifest", or_null(asset.manifest)}};
  }
  return nullptr;
}

Json steps_of(const RunRecord& record) {
  Json steps = Json::array();
  for (std::size_t i = 0; i < record.steps.size(); ++i) {
    Json step{{"argv", record.steps[i].argv},
              {"ranks", record.steps[i].ranks},
              {"exit", nullptr},
              {"signal", nullptr},
              {"seconds", nullptr}};
    if (i < record.ends.size()) {
      step["exit"] = record.ends[i].end.exit;
      if (record.ends[i].end.signal != 0) step["signal"] = record.ends[i].end.signal;
      step["seconds"] = record.ends[i].seconds;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Json to_json(const RunRecord& record, const Json& environment, const Json& machine) {
  Json assets = Json::array();
  for (const RunAsset& asset : record.assets) assets.push_back(to_json(asset));
  return {{"schema", 1},
          {"id", record.id},
          {"started", record.started},
          {"finished", or_null(record.finished)},
          {"state", record.state},
          {"mode", record.mode},
          {"command", record.steps.empty() ? Json(nullptr) : Json(record.steps.back().argv)},
          {"steps", steps_of(record)},
          {"launcher", record.launcher},
          {"ranks", record.ranks},
          {"nodes", record.nodes},
          {"recipe",
           {{"name", record.recipe.name},
            {"version", or_null(record.recipe.version)},
            {"digest", or_null(record.recipe_digest)}}},
          {"assets", assets},
          {"source", source_of(record)},
          {"environment", environment},
          {"machine", machine},
          {"times",
           {{"fetch", or_null(record.times.fetch)},
            {"stage", or_null(record.times.stage)},
            {"verify", or_null(record.times.verify)},
            {"launch", or_null(record.times.launch)},
            {"train", or_null(record.times.train)}}},
          {"harness_cpu_seconds", or_null(record.harness_cpu_s)},
          {"config", Json(record.config)},
          {"exit", or_null(record.exit)},
          {"signal", or_null(record.signal)},
          {"last_lines", record.last_lines.empty() ? Json(nullptr) : Json(record.last_lines)}};
}

std::string digest_of_file(const std::string& file) {
  const auto text = try_read_text(file, recipe_file_size_max);
  return text ? sha256(*text).prefixed() : "";
}

}  // namespace sabath
