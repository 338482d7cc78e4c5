// One metric of MLflow's file store: mlruns/EXPERIMENT/RUN/metrics/NAME has a line for each value, "milliseconds value
// step"; later versions put a dataset's name and digest behind. Source: mlflow/store/tracking/file_store.py.
#include <array>
#include <cmath>

#include "base/number.h"
#include "base/text.h"
#include "trackers/tracker_reader.h"

namespace sabath {
namespace {

class MlflowMetricReader final : public TrackerReader {
 public:
  MlflowMetricReader(std::string name, Sink sink) : TrackerReader(std::move(sink)) { metric_.name = std::move(name); }

  void feed(std::string_view bytes) override {
    held_ += bytes;
    std::size_t taken = 0;
    for (std::size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n', taken)) {
      take_line(std::string_view(held_).substr(taken, end - taken));
      offset_ += end + 1 - taken;
      taken = end + 1;
    }
    held_.erase(0, taken);
    if (held_.size() <= line_max) return;
    offset_ += held_.size();
    held_.clear();
    in_long_line_ = true;
  }

 private:
  static constexpr std::size_t line_max = 4096;

  void take_line(std::string_view line) {
    if (std::exchange(in_long_line_, false)) return counts_.note_damage(offset_);
    std::array<std::string_view, 3> words;
    std::size_t count = 0;
    while (count < words.size() && !line.empty()) {
      const std::size_t end = line.find(' ');
      words[count++] = line.substr(0, end);
      line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    }
    const auto time = try_number(words[0]);
    const auto value = try_number(words[1]);
    const auto step = try_integer(words[2]);
    if (!time || !value || (count == 3 && !step)) return counts_.note_damage(offset_);
    metric_.time = *time / 1000;
    metric_.value = *value;
    metric_.step = step.value_or(0);
    tell(metric_);
  }

  std::string held_;
  std::uint64_t offset_ = 0;
  bool in_long_line_ = false;
  Metric metric_;
};

}  // namespace

std::unique_ptr<TrackerReader> make_mlflow_metric_reader(std::string name, TrackerReader::Sink sink) {
  return std::make_unique<MlflowMetricReader>(std::move(name), std::move(sink));
}

}  // namespace sabath
