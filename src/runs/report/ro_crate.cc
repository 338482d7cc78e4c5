// A run as a Process Run Crate (RO-Crate 1.1): the JSON-LD for ro-crate-metadata.json in the run's directory. It
// describes the program, its data, the machine and the resulting files.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/wording.h"
#include "fields/json_text.h"
#include "report/exporter.h"
#include "report/summary.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

Json reference(const std::string& id) { return Json{{"@id", id}}; }

std::string iso_time(double seconds) {
  constexpr double last = 253402300799;  // of the year 9999
  const auto whole = static_cast<std::time_t>(seconds >= 0 && seconds <= last ? seconds : 0);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00", fmt::gmtime(whole));
}

std::string clean(const std::string& text) { return printable(text, 4096); }

// The entities of one crate, and what refers to what.
class Crate {
 public:
  explicit Crate(const Run& run) : run_(run), record_(*run.record) {}
  Json make();

 private:
  void add_files();
  void add_file(const std::string& id, const std::string& name, const char* format);
  void add_code();
  void add_assets();
  void add_lineage(const std::string& asset, const std::vector<DerivationStep>& lineage);
  void add_values();
  std::string add_value(const std::string& id, const std::string& name, Json value);
  void add_environment();
  void add_action();
  [[nodiscard]] std::string argv() const;
  [[nodiscard]] Json root() const;

  const Run& run_;
  const RunRecord& record_;
  Json graph_ = Json::array();
  Json parts_ = Json::array(), objects_ = Json::array(), results_ = Json::array(), environment_ = Json::array();
  Json mentions_ = Json::array({reference("#run")});
};

void Crate::add_file(const std::string& id, const std::string& name, const char* format) {
  const auto status = try_stat(run_.path / id);
  if (!status || !S_ISREG(status->st_mode)) return;
  graph_.push_back(Json{{"@id", id},
                        {"@type", "File"},
                        {"name", name},
                        {"encodingFormat", format},
                        {"contentSize", fmt::format("{}", status->st_size)}});
  parts_.push_back(reference(id));
  results_.push_back(reference(id));
}

void Crate::add_files() {
  add_file("run.json", "what was run, on what, with which bytes", "application/json");
  add_file("metrics.jsonl", "metrics as they appeared", "application/jsonl");
  add_file("metrics.csv", "metrics as a table", "text/csv");
  add_file("resources.jsonl", "resources over time", "application/jsonl");
  add_file("latency.json", "how long the model takes", "application/json");
  for (const RunRecord::NamedFile& result : record_.results) {
    const auto below = RelativePath::try_parse(result.path);
    if (below) add_file(below->text(), "what the model gave", "application/octet-stream");
    if (below && !graph_.empty() && graph_.back()["@id"] == below->text())
      graph_.back()["identifier"] = clean(result.sha256);
  }
  std::error_code ignored;
  std::vector<std::string> names;
  constexpr std::size_t outputs_max = 4096;
  for (const auto& entry : std::filesystem::directory_iterator(run_.path / "output", ignored)) {
    const std::string name = entry.path().filename().string();
    const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos;
    if (plain && names.size() < outputs_max) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) add_file("output/" + name, "what the program printed: " + name, "text/plain");
}

void Crate::add_code() {
  const RunRecord::Recipe recipe = recipe_of(run_);
  const std::string commit = commit_of(run_);
  const std::string& name = recipe.name.empty() ? run_.label : recipe.name;
  Json code{{"@id", "#code"}, {"@type", "SoftwareApplication"}, {"name", clean(name)}};
  if (!recipe.version.empty()) code["softwareVersion"] = clean(recipe.version);
  Json identifiers = Json::array();
  if (!recipe.digest.empty()) identifiers.push_back(clean("recipe digest " + recipe.digest));
  if (!commit.empty()) identifiers.push_back(clean("source commit " + commit));
  if (!identifiers.empty()) code["identifier"] = std::move(identifiers);
  graph_.push_back(std::move(code));
}

void Crate::add_assets() {
  std::size_t number = 0;
  for (const RunRecord::Asset& asset : assets_of(run_)) {
    const std::string id = fmt::format("#asset-{}", ++number);
    Json entity{
        {"@id", id}, {"@type", "CreativeWork"}, {"name", clean(asset.name)}, {"additionalType", clean(asset.kind)}};
    if (!asset.manifest.empty()) entity["identifier"] = clean(asset.manifest);
    if (!asset.verified_by.empty()) entity["description"] = "bytes verified by: " + clean(asset.verified_by);
    graph_.push_back(std::move(entity));
    objects_.push_back(reference(id));
    add_lineage(id, asset.lineage);
  }
  number = 0;
  for (const RunRecord::NamedFile& input : record_.inputs) {
    const std::string id = fmt::format("#input-{}", ++number);
    Json entity{{"@id", id}, {"@type", "CreativeWork"}, {"name", clean(input.path)}};
    if (!input.sha256.empty()) entity["identifier"] = clean(input.sha256);
    if (!input.name.empty()) entity["description"] = "the model's input " + clean(input.name);
    graph_.push_back(std::move(entity));
    objects_.push_back(reference(id));
  }
}

// Each step that made the asset is an action of its own, from its input by its script to what it made.
void Crate::add_lineage(const std::string& asset, const std::vector<DerivationStep>& lineage) {
  std::string made = asset;
  std::size_t number = 0;
  for (const DerivationStep& step : lineage) {
    const std::string end = fmt::format("{}-{}", asset.substr(1), ++number);
    const std::string input = "#input-of-" + end, script = "#script-of-" + end, action = "#apply-" + end;
    graph_.push_back(Json{
        {"@id", input}, {"@type", "CreativeWork"}, {"name", clean(step.from)}, {"identifier", step.input.prefixed()}});
    Json software{{"@id", script}, {"@type", "SoftwareApplication"}, {"name", clean(step.script)}};
    if (!step.script_root.empty()) software["identifier"] = clean(step.script_root);
    Json objects = Json::array({reference(input)});
    std::size_t value = 0;
    for (const auto& [name, text] : step.arguments)
      objects.push_back(reference(add_value(fmt::format("#argument-of-{}-{}", end, ++value), name, clean(text))));
    std::string tools;
    for (const auto& [name, version] : step.tools)
      tools += fmt::format("{}{} {}", tools.empty() ? "" : ", ", name, version);
    if (!tools.empty()) software["softwareRequirements"] = clean(tools);
    graph_.push_back(std::move(software));
    graph_.push_back(Json{{"@id", action},
                          {"@type", "CreateAction"},
                          {"name", clean(fmt::format("apply {} to {}", step.script, step.from))},
                          {"description", "key " + step.key.prefixed()},
                          {"instrument", reference(script)},
                          {"object", std::move(objects)},
                          {"result", reference(made)}});
    mentions_.push_back(reference(action));
    made = input;
  }
}

std::string Crate::add_value(const std::string& id, const std::string& name, Json value) {
  graph_.push_back(Json{{"@id", id}, {"@type", "PropertyValue"}, {"name", clean(name)}, {"value", std::move(value)}});
  return id;
}

void Crate::add_values() {
  std::size_t number = 0;
  for (const auto& [name, value] : config_of(run_))
    objects_.push_back(reference(add_value(fmt::format("#config-{}", ++number), name, clean(value))));
  number = 0;
  for (const Series& series : run_.series) {
    results_.push_back(
        reference(add_value(fmt::format("#metric-{}", ++number), "last " + series.name, json_number(series.y.back()))));
  }
}

void Crate::add_environment() {
  std::size_t number = 0;
  const auto add = [&](const std::string& part, const Facts& facts) {
    for (const auto& [name, value] : facts) {
      if (value.empty()) continue;
      const std::string id = fmt::format("#environment-{}", ++number);
      environment_.push_back(reference(add_value(id, part + "." + name, clean(value))));
    }
  };
  add("environment", environment_of(run_));
  add("machine", machine_of(run_));
}

std::string Crate::argv() const {
  if (record_.command.empty()) return {};
  return Json(record_.command).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Crate::add_action() {
  const std::string& state = record_.state;
  const auto text = [](const std::optional<int>& number) { return number ? std::to_string(*number) : ""; };
  Json action{{"@id", "#run"}, {"@type", "CreateAction"}, {"name", clean("run " + run_.label)}};
  action["description"] = clean("argv: " + argv());
  action["instrument"] = reference("#code");
  if (record_.started) action["startTime"] = iso_time(*record_.started);
  if (record_.finished) action["endTime"] = iso_time(*record_.finished);
  if (state != "running" && !state.empty())  // a text, as the profile's own validator wants it
    action["actionStatus"] =
        state == "finished" ? "http://schema.org/CompletedActionStatus" : "http://schema.org/FailedActionStatus";
  if (state == "failed" || state == "interrupted")
    action["error"] = clean(fmt::format("{}, exit {}, signal {}", state, text(record_.exit), text(record_.signal)));
  if (!objects_.empty()) action["object"] = objects_;
  if (!results_.empty()) action["result"] = results_;
  if (!environment_.empty()) action["environment"] = environment_;
  graph_.push_back(std::move(action));
}

Json Crate::root() const {
  const double published = record_.finished.value_or(record_.started.value_or(0));
  return Json{{"@id", "./"},
              {"@type", "Dataset"},
              {"conformsTo", reference("https://w3id.org/ro/wfrun/process/0.5")},
              {"name", clean(run_.label)},
              {"description", clean("The record of one run of " + recipe_of(run_).name)},
              {"datePublished", iso_time(published)},
              {"license", reference("#license")},
              {"hasPart", parts_},
              {"mentions", mentions_.size() == 1 ? mentions_.front() : mentions_}};
}

Json Crate::make() {
  add_files();
  add_code();
  add_assets();
  add_values();
  add_environment();
  add_action();
  graph_.push_back(Json{{"@id", "#license"},
                        {"@type", "CreativeWork"},
                        {"name", "as the data and the code that were used"},
                        {"description", "`sabath cite` says what is known of each asset"}});
  graph_.push_back(Json{{"@id", "https://w3id.org/ro/wfrun/process/0.5"},
                        {"@type", "CreativeWork"},
                        {"name", "Process Run Crate"},
                        {"version", "0.5"}});
  Json all = Json::array();
  all.push_back(Json{{"@id", "ro-crate-metadata.json"},
                     {"@type", "CreativeWork"},
                     {"conformsTo", reference("https://w3id.org/ro/crate/1.1")},
                     {"about", reference("./")}});
  all.push_back(root());
  for (Json& entity : graph_) all.push_back(std::move(entity));
  return Json{{"@context", Json::array({"https://w3id.org/ro/crate/1.1/context",
                                        "https://w3id.org/ro/terms/workflow-run/context"})},
              {"@graph", std::move(all)}};
}

void write_crate(std::span<const Run> runs, const ExportOptions& /*options*/, ExportSink& sink) {
  const Run& run = runs.front();
  if (!run.record) {
    throw Error(
        FailureKind::usage, fmt::format("{} is no run directory with a run.json", printable(run.path.string())),
        fmt::format("a crate describes a run and its files: name a directory that `{}` made", verb_text("run")));
  }
  sink.write(Crate(run).make().dump(1) + "\n");
}

}  // namespace

extern constexpr Exporter ro_crate_exporter{.name = "ro-crate", .one_run_only = true, .write = write_crate};

}  // namespace sabath
