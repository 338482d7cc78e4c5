#include "cli/show/epoch_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/show/render.h"
#include "metrics/sparkline.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr std::size_t names_max = 64, shown_max = 4, course_width_max = 24, course_width_min = 8, course_max = 4096;

// The order in which values are shown: losses, then measures of quality, then the rest. 9: never.
int rank_of(std::string_view name) {
  const std::string lower = to_lower(name);
  const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  if (has("time") || has("/s") || has("throughput") || has("batch") || has("stage") || lower.ends_with("_start") ||
      lower.ends_with("_stop"))
    return 9;
  if (has("loss")) return 0;
  for (const char* word : {"mae", "mse", "acc", "err", "iou", "score", "auc", "f1", "r2"}) {
    if (has(word)) return 1;
  }
  return lower == "lr" || has("learning_rate") ? 3 : 2;
}

}  // namespace

EpochBoard::EpochBoard(BoardStyle style, std::function<double()> now_s, std::function<unsigned()> width,
                       std::function<void(std::string_view)> write)
    : style_(style),
      now_s_(std::move(now_s)),
      width_(std::move(width)),
      write_(std::move(write)),
      begin_s_(now_s_()),
      last_s_(begin_s_),
      first_begin_s_(begin_s_) {}

void EpochBoard::on(const Metric& metric) {
  if (!metric.epoch) return;
  if (!rank_ && metric.rank) rank_ = metric.rank;
  if (metric.rank && *metric.rank != *rank_) return;
  if (epoch_ && *metric.epoch != *epoch_) {
    if (!shown_) end_epoch();
    values_.clear();
    shown_ = false;
  }
  epoch_ = metric.epoch;
  last_s_ = now_s_();
  if (rank_of(metric.name) == 9) return;
  const auto found = std::ranges::find(values_, metric.name, &Value::name);
  if (found != values_.end()) {
    found->value = metric.value;
  } else if (values_.size() < names_max) {
    values_.push_back({metric.name, metric.value});
  }
  const auto is_here = [this](const std::string& name) {
    return std::ranges::find(values_, name, &Value::name) != values_.end();
  };
  // The previous epoch tells which values this one will have; a step's value may still change.
  if (!shown_ && !metric.step && !complete_.empty() && std::ranges::all_of(complete_, is_here)) end_epoch();
}

std::string EpochBoard::epoch_text() const {
  const std::string of = style_.epochs ? fmt::format("/{}", *style_.epochs) : "";
  return fmt::format("epoch {:g}{}", *epoch_, of);
}

std::string EpochBoard::values_text(std::size_t most) const {
  std::vector<Value> sorted = values_;
  std::ranges::stable_sort(sorted, {}, [](const Value& value) { return rank_of(value.name); });
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i) {
    text += fmt::format("  {} {:.4g}", printable(sorted[i].name, 40), sorted[i].value);
  }
  return text;
}

void EpochBoard::remember() {
  if (leading_.empty()) {
    const auto best = std::ranges::min_element(values_, {}, [](const Value& value) {
      return 2 * rank_of(value.name) - (to_lower(value.name).find("val") != std::string::npos ? 1 : 0);
    });
    if (best == values_.end()) return;
    leading_ = best->name;
  }
  const auto found = std::ranges::find(values_, leading_, &Value::name);
  course_.push_back(found == values_.end() ? std::nan("") : found->value);
  if (course_.size() > course_max) course_.erase(course_.begin());
}

void EpochBoard::end_epoch() {
  shown_ = true;
  complete_.clear();
  for (const Value& value : values_) complete_.push_back(value.name);
  if (values_.empty()) return;
  remember();
  ++done_;
  const double took = last_s_ - begin_s_;
  begin_s_ = last_s_;
  std::string left;
  if (style_.epochs && *style_.epochs > done_) {
    const double each = (last_s_ - first_begin_s_) / static_cast<double>(done_);
    left = "  ETA " + format_duration(each * static_cast<double>(*style_.epochs - done_));
  }
  if (style_.quiet) return;
  clear();
  write_(line_of("  " + format_duration(took), left) + "\n");
}

// A terminal line that is too long loses the values after the first, then the course, then the time of the epoch.
std::string EpochBoard::line_of(const std::string& took, const std::string& left) const {
  const auto course = [this](std::size_t width) {
    return style_.utf8 && course_.size() > 1 ? "  " + sparkline(course_, width, true) : "";
  };
  if (!style_.live) return epoch_text() + values_text(shown_max) + took + left + course(course_width_max);
  const unsigned width = width_() - 1;
  const auto fits = [&](const std::string& line) { return shorten(line, width, style_.utf8) == line; };
  for (std::size_t most = shown_max; most > 0; --most) {
    const std::string line = epoch_text() + values_text(most) + took + left;
    for (std::size_t columns = course_width_max; columns >= course_width_min; --columns) {
      if (fits(line + course(columns))) return line + course(columns);
    }
  }
  for (const std::string& end : {took + left, left}) {
    if (const std::string line = epoch_text() + values_text(1) + end; fits(line)) return line;
  }
  return shorten(epoch_text() + values_text(1), width, style_.utf8);
}

void EpochBoard::tick() {
  if (!style_.live || style_.quiet) return;
  const std::string running = format_duration(now_s_() - begin_s_);
  const std::string line =
      epoch_ && !shown_ ? epoch_text() + values_text(shown_max) + "  " + running : fmt::format("running  {}", running);
  write_("\r\x1b[K" + shorten(line, width_() - 1, style_.utf8));
  drawn_ = true;
}

void EpochBoard::clear() {
  if (drawn_) write_("\r\x1b[K");
  drawn_ = false;
}

void EpochBoard::finish() {
  if (epoch_ && !shown_) end_epoch();
  clear();
}

}  // namespace sabath::cli
