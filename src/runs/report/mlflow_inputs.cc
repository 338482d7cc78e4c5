// Layout of mlflow/store/tracking/file_store.py: log_inputs(), create_logged_model().
#include "report/mlflow_inputs.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "metrics/json_scan.h"
#include "report/summary.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t digest_max = 36;  // characters that MLflow's database has for a digest

std::string mlflow_id(const std::string& of) { return to_hex(sha256(of).bytes()).substr(0, 32); }

void write_meta(const fs::path& directory, const std::string& text) {
  make_directories(directory);
  write_text_atomically(directory / "meta.yaml", text);
}

std::string yaml_line(std::string_view key, std::string_view value) {
  return fmt::format("{}: {}\n", key, json_quote(value));
}

void write_input(const fs::path& run, const std::string& kind, const std::string& source, const std::string& tags) {
  write_meta(run / "inputs" / mlflow_id(source + run.filename().string()),
             yaml_line("source_type", kind) + yaml_line("source_id", source) + "destination_type: RUN\n" +
                 yaml_line("destination_id", source) + "tags:" + (tags.empty() ? " {}\n" : "\n" + tags));
}

// Its digest begins as the root of its manifest does; the whole root stands in its source.
void write_dataset(const RunRecord::Asset& asset, const std::string& mode, const fs::path& run) {
  const std::string hex = asset.manifest.substr(asset.manifest.find(':') + 1);
  const std::string id = mlflow_id("dataset " + asset.name + asset.manifest);
  const std::string source = fmt::format(R"({{"uri": {}, "manifest": {}, "verified_by": {}}})", json_quote(asset.path),
                                         json_quote(asset.manifest), json_quote(asset.verified_by));
  write_meta(run.parent_path() / "datasets" / id,
             yaml_line("name", asset.name) + yaml_line("digest", hex.substr(0, digest_max)) + "source_type: local\n" +
                 yaml_line("source", source) + "schema: null\nprofile: null\n");
  write_input(run, "DATASET", id,
              "  mlflow.data.context: " + json_quote(mode == "infer" ? "inference" : "training") + "\n");
}

void write_model(const RunRecord::Asset& asset, std::int64_t made_ms, const fs::path& run) {
  const fs::path experiment = run.parent_path();
  const std::string id = "m-" + mlflow_id("model " + asset.name + asset.manifest);
  const fs::path place = experiment / "models" / id;
  write_meta(place, yaml_line("artifact_location", "file://" + asset.path) +
                        fmt::format("creation_timestamp: {}\n", made_ms) + "experiment_id: '0'\n" +
                        fmt::format("last_updated_timestamp: {}\nlifecycle_stage: active\n", made_ms) +
                        yaml_line("model_id", id) + "model_type: null\n" + yaml_line("name", asset.name) +
                        "source_run_id: null\nstatus: 2\nstatus_message: null\n");
  for (const char* const name : {"metrics", "params", "tags"}) make_directories(place / name);
  write_text_atomically(place / "tags/sabath.manifest", asset.manifest);
  write_input(run, "MODEL", id, "");
}

}  // namespace

void write_mlflow_inputs(const Run& run, const fs::path& run_directory) {
  const double started = run.record ? run.record->started.value_or(0) : 0;
  for (const RunRecord::Asset& asset : assets_of(run)) {
    if (asset.manifest.empty()) continue;
    if (asset.kind == "model") {
      write_model(asset, to_milliseconds(started), run_directory);
    } else {
      write_dataset(asset, run.record->mode, run_directory);
    }
  }
}

}  // namespace sabath
