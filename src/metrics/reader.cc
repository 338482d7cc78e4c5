#include "metrics/reader.h"

#include <utility>

#include "metrics/json_scan.h"
#include "metrics/line_splitter.h"
#include "metrics/rank_prefix.h"

namespace sabath {

class MetricReader::Parts {
 public:
  Parts(MetricReaderOptions options, Sink sink)
      : options_(std::move(options)), sink_(std::move(sink)), splitter_(options_.line_max) {}

  void feed(std::string_view bytes, double time) {
    counts_.bytes += bytes.size();
    time_ = time;
    splitter_.feed(bytes, [this](const Piece& piece) { take(piece); });
    counts_.lines_too_long = splitter_.too_long();
  }
  void finish() {
    splitter_.finish([this](const Piece& piece) { take(piece); });
    counts_.lines_too_long = splitter_.too_long();
  }

  MetricReaderCounts counts_;

 private:
  void take(const Piece& piece);
  void take_mlperf(std::string_view object, std::optional<int> rank);

  MetricReaderOptions options_;
  Sink sink_;
  LineSplitter splitter_;
  double time_ = 0;
  std::vector<JsonLeaf> leaves_;
};

void MetricReader::Parts::take(const Piece& piece) {
  ++counts_.lines;
  std::string_view text = piece.text;
  std::optional<int> rank = options_.rank;
  if (const auto prefix = try_rank_prefix(text)) {
    rank = prefix->rank;
    text.remove_prefix(prefix->length);
  }
  constexpr std::string_view mark = ":::MLLOG ";
  if (const std::size_t at = text.find(mark); at != std::string_view::npos)
    take_mlperf(text.substr(at + mark.size()), rank);
}

void MetricReader::Parts::take_mlperf(std::string_view object, std::optional<int> rank) {
  if (!scan_json_object(object, leaves_)) {
    ++counts_.malformed;
    return;
  }
  Metric metric;
  metric.time = time_;
  metric.rank = rank;
  for (const JsonLeaf& leaf : leaves_) {
    const bool number = leaf.kind == JsonLeaf::Kind::number;
    if (leaf.outer == "key" && leaf.kind == JsonLeaf::Kind::text) metric.name = json_unescape(leaf.text);
    if (leaf.outer == "time_ms" && number) metric.time = leaf.number / 1000;
    if (leaf.outer == "metadata" && leaf.inner == "epoch_num" && number) metric.epoch = leaf.number;
  }
  for (const JsonLeaf& leaf : leaves_) {
    if (leaf.outer != "value" || leaf.kind != JsonLeaf::Kind::number) continue;
    metric.value = leaf.number;
    ++counts_.metrics;
    sink_(metric);
  }
}

MetricReader::MetricReader(MetricReaderOptions options, Sink sink)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(sink))) {}
MetricReader::~MetricReader() = default;
void MetricReader::feed(std::string_view bytes, double time) { parts_->feed(bytes, time); }
void MetricReader::finish() { parts_->finish(); }
const MetricReaderCounts& MetricReader::counts() const noexcept { return parts_->counts_; }

}  // namespace sabath
