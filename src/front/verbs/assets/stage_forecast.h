// The time that staging would take on another machine, by its description: docs/simulation.md. Any thread. Throws
// Error{usage} for a description that makes no sense, Error{offline} for an asset that the store lacks.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/session.h"
#include "sabath/verbs/stage.h"
#include "sabath/verbs/view.h"
#include "stage/simulation/simulate.h"

namespace sabath {

// What is asked of `stage`: to stage, or to predict it for a machine.
struct StageCall : StageRequest {
  ViewLayout layout = ViewLayout::files;  // the request's `hub_layout`, as a word
  std::optional<std::string> simulate;
  [[nodiscard]] StageRequest request() const;
  [[nodiscard]] StageRequest simulated() const;  // environments are assets as others
};

// "nodes=9408,shared=500G,link=25G,...". Without `size`: the asset's is to be filled in.
[[nodiscard]] StageModel parse_stage_model(std::string_view text);
// The same, of the asset, the readers and the threads that the request names.
[[nodiscard]] StageModel stage_model(Session& session, std::string_view machine, const StageRequest& request,
                                     const std::stop_token& stop);

struct StageForecastRecord {
  StageModel model;
  std::vector<StageForecast> curve;  // for 1, 2, 4, ... nodes, up to the model's
  int exit = 0;
};
[[nodiscard]] StageForecastRecord forecast_stage(const StageModel& model, const std::stop_token& stop);
[[nodiscard]] std::string to_json(const StageForecastRecord& record);

// In bytes a second: of the data set, and of what all nodes get.
struct StageRates {
  double asset = 0, delivered = 0;
};
[[nodiscard]] StageRates rates_of(const StageForecast& forecast, std::uint64_t bytes);

}  // namespace sabath
