// The record of `stage` that predicts: docs/simulation.md.
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "stage/simulation/measured_sites.h"
#include "verbs/assets/stage_forecast.h"
#include "verbs/verb.h"

namespace sabath {

template <double ClusterModel::*rate>
std::optional<double> rate_or_null(const StageModel& model) {
  return std::isfinite(model.cluster.*rate) ? std::optional(model.cluster.*rate) : std::nullopt;
}

template <>
struct Described<StageModel> {
  using Of = StageModel;
  static constexpr Field table[] = {
      SABATH_FIELD(nodes, .help = "nodes of the machine"),
      SABATH_FIELD(bytes, .help = "of the asset", .unit = "bytes"),
      SABATH_FIELD(files, .help = "of the asset, of one size", .unit = "files"),
      SABATH_FIELD(readers_max, .help = "nodes that read from the shared filesystem at once, at most"),
      SABATH_FIELD_AS("threads", threads.readers, .help = "readers, and writers, of each node"),
      SABATH_VALUE("shared", rate_or_null<&ClusterModel::shared_rate>,
                   .help = "rate of the shared filesystem for all nodes together", .unit = "bytes a second"),
      SABATH_VALUE("shared_node", rate_or_null<&ClusterModel::shared_node_rate>,
                   .help = "the most of it that one node gets; null: all", .unit = "bytes a second"),
      SABATH_VALUE("link_in", rate_or_null<&ClusterModel::link_in_rate>, .help = "rate into each node",
                   .unit = "bytes a second"),
      SABATH_VALUE("link_out", rate_or_null<&ClusterModel::link_out_rate>, .help = "rate out of each node",
                   .unit = "bytes a second"),
      SABATH_VALUE("disk", rate_or_null<&ClusterModel::disk_rate>,
                   .help = "rate at which a node writes; null: no bound", .unit = "bytes a second"),
      SABATH_VALUE("hash", rate_or_null<&ClusterModel::hash_rate>, .help = "SHA-256 of one thread; null: no bound",
                   .unit = "bytes a second"),
      SABATH_FIELD_AS("latency", cluster.latency, .help = "of a message", .unit = "seconds"),
      SABATH_FIELD_AS("open", cluster.open, .help = "to open a file on the shared filesystem", .unit = "seconds"),
      SABATH_FIELD_AS("create", cluster.create, .help = "to make a file on a node", .unit = "seconds"),
  };
};

struct ForecastPoint {
  StageForecast forecast;
  StageRates rates;
};

template <>
struct Described<ForecastPoint> {
  using Of = ForecastPoint;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("nodes", forecast.nodes, .help = "nodes of the job"),
      SABATH_FIELD_AS("readers", forecast.readers, .help = "nodes that read from the shared filesystem"),
      SABATH_FIELD_AS("seconds", forecast.seconds, .help = "until the last node has written the last piece",
                      .unit = "seconds"),
      SABATH_FIELD_AS("bytes_from_shared", forecast.bytes_from_shared, .help = "of all nodes together",
                      .unit = "bytes"),
      SABATH_FIELD_AS("bytes_from_peers", forecast.bytes_from_peers, .help = "of all nodes together", .unit = "bytes"),
      SABATH_FIELD_AS("bytes_per_s", rates.asset, .help = "the asset over the seconds", .unit = "bytes a second"),
      SABATH_FIELD_AS("delivered_bytes_per_s", rates.delivered, .help = "that times the nodes",
                      .unit = "bytes a second"),
      SABATH_FIELD_AS("pieces", forecast.pieces, .help = "pieces of the asset"),
      SABATH_FIELD_AS("pieces_simulated", forecast.pieces_simulated, .help = "fewer: the rest is extrapolated"),
  };
};

template <double MeasuredStaging::*value>
std::optional<double> known_or_null(const MeasuredStaging& staging) {
  return staging.*value > 0 ? std::optional(staging.*value) : std::nullopt;
}
inline std::optional<double> measured_rate(const MeasuredStaging& staging) {
  return staging.gb_per_s > 0 ? std::optional(staging.gb_per_s * 1e9) : std::nullopt;
}

template <>
struct Described<MeasuredStaging> {
  using Of = MeasuredStaging;
  static constexpr Field table[] = {
      SABATH_FIELD(round, .help = "of MLPerf HPC"),
      SABATH_FIELD(system, .help = "the machine"),
      SABATH_FIELD(nodes, .help = "nodes that were staged to"),
      SABATH_VALUE("seconds_min", known_or_null<&MeasuredStaging::seconds_min>, .help = "of the fastest run",
                   .unit = "seconds"),
      SABATH_FIELD_AS("seconds", seconds_median, .help = "the median of the runs", .unit = "seconds"),
      SABATH_VALUE("seconds_max", known_or_null<&MeasuredStaging::seconds_max>, .help = "of the slowest run",
                   .unit = "seconds"),
      SABATH_VALUE("bytes_per_s", measured_rate, .help = "the data set once, over the median; null: not known",
                   .unit = "bytes a second"),
      SABATH_FIELD(method, .help = "how it was staged"),
  };
};

struct MeasuredStagings {
  std::string_view source;
  std::vector<MeasuredStaging> stagings;
};

template <>
struct Described<MeasuredStagings> {
  using Of = MeasuredStagings;
  static constexpr Field table[] = {
      SABATH_FIELD(source, .help = "where the figures are"),
      SABATH_FIELD(stagings, .help = "of each system"),
  };
};

inline std::vector<ForecastPoint> points_of(const StageForecastRecord& record) {
  std::vector<ForecastPoint> points;
  for (const StageForecast& one : record.curve) points.push_back({one, rates_of(one, record.model.bytes)});
  return points;
}
inline MeasuredStagings all_measured(const StageForecastRecord&) {
  const auto all = measured_stagings();
  return {measured_source, {all.begin(), all.end()}};
}

template <>
struct Described<StageForecastRecord> {
  using Of = StageForecastRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(model, .help = "the machine and the asset"),
      SABATH_VALUE("curve", points_of, .help = "for 1, 2, 4, ... nodes, up to the machine's"),
      SABATH_VALUE("measured", all_measured, .help = "how long staging took elsewhere"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

}  // namespace sabath
