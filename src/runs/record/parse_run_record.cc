#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/wording.h"
#include "record/run_record.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t file_size_max = 16 << 20;

// The values of one object. An absent value, or one of another type, is unknown.
class Values {
 public:
  explicit Values(const Json& object) : object_(object) {}

  [[nodiscard]] const Json& at(const char* key) const {
    static const Json nothing;
    if (!object_.is_object()) return nothing;
    const auto found = object_.find(key);
    return found == object_.end() ? nothing : *found;
  }
  [[nodiscard]] std::string text(const char* key) const {
    const Json& value = at(key);
    if (value.is_string()) return value.get<std::string>();
    return value.is_primitive() && !value.is_null() ? value.dump() : std::string{};
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    if (at(key).is_string()) return {at(key).get<std::string>()};
    if (!at(key).is_array()) return all;
    for (const Json& one : at(key)) all.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    return all;
  }
  [[nodiscard]] std::optional<double> number(const char* key) const {
    return at(key).is_number() ? std::optional(at(key).get<double>()) : std::nullopt;
  }
  [[nodiscard]] std::optional<int> integer(const char* key) const {
    constexpr double least = std::numeric_limits<int>::min(), greatest = std::numeric_limits<int>::max();
    const auto value = number(key);
    if (!value || !(*value >= least && *value <= greatest) || std::trunc(*value) != *value) return std::nullopt;
    return static_cast<int>(*value);
  }
  [[nodiscard]] std::optional<bool> truth(const char* key) const {
    return at(key).is_boolean() ? std::optional(at(key).get<bool>()) : std::nullopt;
  }

 private:
  const Json& object_;
};

std::map<std::string, std::string> texts_by_name(const Json& object) {
  std::map<std::string, std::string> texts;
  if (!object.is_object()) return texts;
  for (const auto& [name, value] : object.items())
    texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  return texts;
}

// Steps whose roots are none are left out.
std::vector<DerivationStep> lineage_in(const Json& array) {
  constexpr std::size_t steps_max = 64;
  std::vector<DerivationStep> steps;
  if (!array.is_array()) return steps;
  for (const Json& one : array) {
    const Values values(one);
    const auto input = Sha256::try_parse(values.text("input")), key = Sha256::try_parse(values.text("key"));
    if (!input || !key || steps.size() >= steps_max) continue;
    steps.push_back({values.text("from"), *input, values.text("script"), values.text("script_root"),
                     values.truth("in_place").value_or(false), texts_by_name(values.at("arguments")),
                     texts_by_name(values.at("tools")), *key});
  }
  return steps;
}

std::vector<RunRecord::Asset> assets_of(const Json& array) {
  std::vector<RunRecord::Asset> assets;
  for (const Json& one : array) {
    if (!one.is_object()) continue;
    const Values values(one);
    assets.push_back({values.text("name"),
                      values.text("kind"),
                      values.text("manifest"),
                      values.text("verified_by"),
                      values.text("path"),
                      values.truth("warm"),
                      lineage_in(values.at("lineage")),
                      {},
                      values.text("role")});
    if (const Json& loads = values.at("loads"); loads.is_object())
      assets.back().loads = {Values(loads).text("by"), Values(loads).texts("found")};
  }
  return assets;
}

std::vector<RunRecord::Step> steps_of(const Json& array) {
  std::vector<RunRecord::Step> steps;
  if (!array.is_array()) return steps;
  for (const Json& one : array) {
    const Values values(one);
    steps.push_back({values.texts("argv"), values.integer("ranks").value_or(1), values.integer("exit"),
                     values.integer("signal"), values.number("seconds")});
  }
  return steps;
}

std::vector<RunRecord::NamedFile> files_of(const Json& array) {
  std::vector<RunRecord::NamedFile> files;
  if (!array.is_array()) return files;
  for (const Json& one : array)
    files.push_back({Values(one).text("name"), Values(one).text("path"), Values(one).text("sha256")});
  return files;
}

RunTimes times_of(const Json& object) {
  const Values values(object);
  return {values.number("fetch"), values.number("stage"), values.number("verify"), values.number("launch"),
          values.number("train")};
}

// A part of the document, which shares its ownership.
RunRecord::Document part_of(const RunRecord::Document& document, const Json& part) {
  return part.is_null() ? nullptr : RunRecord::Document(document, &part);
}

void refuse_foreign(const Json& document, const std::string& name) {
  if (!document.is_object()) {
    throw Error(FailureKind::invalid, fmt::format("{} is not a JSON object", printable(name)),
                "the record of a run is replaced as a whole: something else wrote into this file");
  }
  constexpr std::array marks{"id", "started", "state", "command", "recipe", "assets", "config", "machine"};
  if (std::ranges::none_of(marks, [&](const char* key) { return document.contains(key); })) {
    throw Error(
        FailureKind::invalid, fmt::format("{} is not the record of a run", printable(name)),
        fmt::format("`{}` writes such a file; remove this one if the directory is only a log's", verb_text("run")));
  }
  constexpr int newest_schema = 1;
  const auto schema = Values(document).number("schema");
  if (schema && (*schema > newest_schema || *schema < 1)) {
    throw Error(FailureKind::invalid,
                fmt::format("{} has schema {}, and this version reads {}", printable(name), *schema, newest_schema),
                *schema > newest_schema ? "read it with the SABATH that wrote it, or a later one"
                                        : "no SABATH wrote that: something else changed the file");
  }
}

}  // namespace

RunRecord parse_run_record(std::string_view text, const std::string& name) {
  const auto document = std::make_shared<const Json>(Json::parse(text, nullptr, false));
  refuse_foreign(*document, name);
  const Values values(*document);
  RunRecord record;
  record.id = values.text("id");
  record.started = values.number("started");
  record.finished = values.number("finished");
  record.state = values.text("state");
  record.mode = values.text("mode");
  record.command = values.texts("command");
  record.steps = steps_of(values.at("steps"));
  record.launcher = values.text("launcher");
  record.ranks = values.integer("ranks");
  record.nodes = values.integer("nodes");
  if (const Json& recipe = values.at("recipe"); recipe.is_object())
    record.recipe = {Values(recipe).text("name"), Values(recipe).text("version"), Values(recipe).text("digest")};
  if (const Json& assets = values.at("assets"); assets.is_array()) record.assets = assets_of(assets);
  if (const Json& source = values.at("source"); source.is_object())
    record.source = {Values(source).text("commit"), Values(source).text("origin"), Values(source).text("manifest")};
  if (const Json& trust = values.at("trust"); trust.is_object())
    record.trust = {Values(trust).text("by"), Values(trust).text("recipe_of"), Values(trust).text("origin"),
                    Values(trust).text("commit"), Values(trust).text("digest")};
  record.environment = part_of(document, values.at("environment"));
  record.machine = part_of(document, values.at("machine"));
  record.times = times_of(values.at("times"));
  record.harness_cpu_s = values.number("harness_cpu_seconds");
  record.config = facts_of(values.at("config"));
  record.inputs = files_of(values.at("inputs"));
  record.results = files_of(values.at("results"));
  record.exit = values.integer("exit");
  record.signal = values.integer("signal");
  record.last_lines = values.texts("last_lines");
  record.unwritten_lines = values.integer("unwritten_lines");
  record.document = document;
  return record;
}

std::optional<RunRecord> try_read_run_record(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "run.json";
  const auto text = try_read_text(file, file_size_max);
  return text ? std::optional(parse_run_record(*text, file.string())) : std::nullopt;
}

}  // namespace sabath
