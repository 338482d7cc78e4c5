#include "verbs/assets/stage_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "base/text.h"
#include "base/wording.h"
#include "fields/request.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/info.h"
#include "sabath/verbs/manifest.h"

namespace sabath {
namespace {

double parse_rate(std::string_view text, const std::string& key) {
  if (text.ends_with("/s")) text.remove_suffix(2);
  const auto rate = parse_bytes(std::string(text), key);
  if (rate > 0) return static_cast<double>(rate);
  throw Error(FailureKind::usage, fmt::format("{} cannot be 0", key), "give bytes a second, such as 500G");
}

double parse_seconds(std::string_view text, const std::string& key) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  static const std::map<std::string, double> units{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  const auto found = units.find(unit);
  constexpr double seconds_max = 60;
  if (error == std::errc() && found != units.end() && value >= 0 && value * found->second <= seconds_max) {
    return value * found->second;
  }
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", key, printable(text)),
              "give a time up to a minute, such as 5us, 0.3ms or 1s");
}

using Keys = std::map<std::string, std::function<void(std::string_view)>>;

Keys keys_of(StageModel& model) {
  ClusterModel& cluster = model.cluster;
  Keys keys;
  const auto rate = [&](const std::string& key, double& target) {
    keys[key] = [key, &target](std::string_view text) { target = parse_rate(text, key); };
  };
  const auto time = [&](const std::string& key, double& target) {
    keys[key] = [key, &target](std::string_view text) { target = parse_seconds(text, key); };
  };
  keys["nodes"] = [&](std::string_view text) {
    model.nodes = static_cast<unsigned>(parse_count(std::string(text), StageModel::nodes_max, "nodes"));
  };
  keys["size"] = [&](std::string_view text) { model.bytes = parse_bytes(std::string(text), "size"); };
  keys["files"] = [&](std::string_view text) { model.files = parse_count(std::string(text), UINT32_MAX, "files"); };
  keys["link"] = [&](std::string_view text) {  // both directions, unless one is given by itself
    const double both = parse_rate(text, "link");
    for (double* target : {&cluster.link_in_rate, &cluster.link_out_rate}) {
      if (std::isinf(*target)) *target = both;
    }
  };
  rate("link-in", cluster.link_in_rate);
  rate("link-out", cluster.link_out_rate);
  rate("shared", cluster.shared_rate);
  rate("shared-node", cluster.shared_node_rate);
  rate("disk", cluster.disk_rate);
  rate("hash", cluster.hash_rate);
  time("latency", cluster.latency);
  time("open", cluster.open);
  time("create", cluster.create);
  return keys;
}

double per_second(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

// Of a dataset that the store holds.
ManifestTotals totals_of_asset(Session& session, const std::string& name, const std::stop_token& stop) {
  NoEvents unheard;
  const InfoRecord known = info(session, {.names = {name}, .kind = AssetKind::dataset}, unheard, stop);
  const AssetDescription& asset = known.assets.front();
  if (asset.manifest.empty()) {
    throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(asset.recipe.name)),
                fmt::format("{} {}", verb_text("fetch"), asset.recipe.name));
  }
  ManifestShowRequest request{.manifest = asset.manifest, .on_entry = {}};
  request.on_entry = [](const ManifestShowRecord&, const ManifestEntry&) {};
  return manifest_show(session, request, unheard, stop).totals;
}

}  // namespace

StageModel parse_stage_model(std::string_view text) {
  StageModel model;
  Keys keys = keys_of(model);
  std::vector<std::string> names;
  for (const auto& [name, set] : keys) names.push_back(name);
  std::map<std::string, bool> given;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    if (equals == std::string_view::npos || !keys.contains(key)) {
      const auto meant = nearest(key, names);
      throw Error(FailureKind::usage, fmt::format("{} cannot have '{}'", option_text("simulate"), printable(part)),
                  meant ? fmt::format("did you mean {}=?", *meant) : "give nodes=9408,shared=500G,link=25G,size=5T");
    }
    if (given[key])
      throw Error(FailureKind::usage, fmt::format("{} has {}= twice", option_text("simulate"), key), "give it once");
    given[key] = true;
    keys[key](part.substr(equals + 1));
  }
  for (const char* needed : {"nodes", "shared", "link"}) {
    const bool there = given[needed] || (std::string_view(needed) == "link" && given["link-in"] && given["link-out"]);
    if (!there) {
      throw Error(FailureKind::usage, fmt::format("{} needs {}=", option_text("simulate"), needed),
                  "give nodes=9408,shared=500G,link=25G,size=5T");
    }
  }
  return model;
}

StageModel stage_model(Session& session, std::string_view machine, const StageRequest& request,
                       const std::stop_token& stop) {
  StageModel model = parse_stage_model(machine);
  if (request.mode != StageMode::replicate || !request.select.empty() || request.names.size() > 1) {
    throw Error(FailureKind::usage, option_text("simulate") + " is of one asset, all of it to every node",
                fmt::format("leave out {} shard and {}", option_text("mode"), option_text("select")));
  }
  if (model.bytes == 0) {
    if (request.names.empty()) {
      throw Error(FailureKind::usage, option_text("simulate") + " does not know how much is staged",
                  "add size=5.1T,files=524288, or the NAME of an asset in the store");
    }
    const ManifestTotals totals = totals_of_asset(session, request.names.front(), stop);
    model.bytes = totals.bytes;
    model.files = totals.files;
  }
  constexpr unsigned threads_usual = 8;
  model.readers_max = request.readers_max;
  model.threads.readers = model.threads.writers = request.threads > 0 ? request.threads : threads_usual;
  check_stage_model(model);
  return model;
}

StageForecastRecord forecast_stage(const StageModel& model, const std::stop_token& stop) {
  return {model, simulate_curve(model, stop)};
}

StageRates rates_of(const StageForecast& forecast, std::uint64_t bytes) {
  const double asset = per_second(bytes, forecast.seconds);
  return {asset, asset * forecast.nodes};
}
}  // namespace sabath
