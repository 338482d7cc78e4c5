// Latencies of models side by side: a row for each model and runtime, a column for each machine. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "record/latency.h"

namespace sabath {

struct LatencySource {
  std::string label;  // as the user named it
  LatencyFile file;
};

class LatencyTable {
 public:
  struct Machine {
    std::string label, cpu;
    std::uint64_t cpus = 0;
  };

  // Files of one machine share a column. Where two files of it have the same row, the model's name gets the
  // file's label.
  explicit LatencyTable(const std::vector<LatencySource>& sources);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string markdown() const;
  [[nodiscard]] std::string csv() const;  // a row for each median
  [[nodiscard]] nlohmann::ordered_json json() const;
  // "encoder, 32 samples, on a: the optimised graph is slower, 1.20 times"
  [[nodiscard]] std::vector<std::string> slower() const;

 private:
  // Model by appearance, batch, set, provider, runtime by rank and name.
  using Key = std::tuple<std::size_t, std::int64_t, std::string, std::string, int, std::string>;
  using Values = std::map<std::size_t, LatencyRow>;  // by machine

  static Key key_of(const LatencyRow& row, std::size_t model);
  std::vector<std::size_t> take_machines(const std::vector<LatencySource>& sources);  // of each source
  [[nodiscard]] std::vector<std::vector<std::string>> cells() const;
  // How many times longer than without the runtime's optimisation; 0: it is not known.
  [[nodiscard]] double slowdown(const Key& key, std::size_t machine) const;

  std::vector<Machine> machines_;
  std::map<Key, Values> lines_;
};

}  // namespace sabath
