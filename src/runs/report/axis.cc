#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sabath {
namespace {

constexpr double huge = 1e300;  // what is beyond is drawn on the frame
constexpr int decades_ticked_max = 30;

struct Range {
  double low = 0, high = 1;
  bool whole = true;
};

Range range_of(const std::vector<double>& values) {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range.low = std::min(range.low, std::clamp(value, -huge, huge));
    range.high = std::max(range.high, std::clamp(value, -huge, huge));
    range.whole = range.whole && std::trunc(value) == value;
  }
  if (range.low > range.high) return {0, 1, true};
  return range;
}

// 1, 2, 2.5 or 5 times a power of ten, so that about `count` of them fill the span.
double nice_step(double span, int count, bool whole) {
  const double raw = span / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= raw * 0.999) {
      step = factor * power;
      break;
    }
  }
  if (whole) step = step < 1 ? 1 : std::ceil(step);
  return step;
}

std::string label_of(double value, double step) {
  if (std::abs(value) < step / 1e6) value = 0;
  const double size = std::max(std::abs(value), step);
  if (size >= 1e6 || step < 1e-4) return fmt::format("{:g}", value);
  // As many decimals as the step has.
  int decimals = 0;
  for (double rest = step; decimals < 6 && std::abs(rest - std::round(rest)) > 1e-6 * rest; ++decimals) rest *= 10;
  return fmt::format("{:.{}f}", value, decimals);
}

void put_linear_ticks(Axis& axis, double step) {
  constexpr int ticks_max = 64;
  const double first = std::ceil(axis.low / step - 1e-9);
  for (int i = 0; i < ticks_max; ++i) {
    const double value = (first + i) * step;
    if (value > axis.high + step * 1e-9) break;
    axis.ticks.push_back({value, label_of(value, step)});
  }
}

std::string power_label(double value, int exponent, bool plain) {
  if (plain) return fmt::format("{:g}", value);
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string label = exponent < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(exponent))) label += digits[c - '0'];
  return label;
}

// Ticks at decades; where there are few of them, 2 and 5 are labelled, too.
Axis logarithmic_axis(const Range& range, int count) {
  Axis axis;
  axis.logarithmic = true;
  axis.low = range.low / 1.15;
  axis.high = range.high * 1.15;
  const int first = static_cast<int>(std::floor(std::log10(axis.low)));
  const int last = static_cast<int>(std::ceil(std::log10(axis.high)));
  const int every = std::max(1, (last - first) / std::max(1, count));
  const bool plain = first >= -4 && last <= 5, few = plain && last - first <= 3;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const int factor : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      const double value = factor * std::pow(10, exponent);
      if (value < axis.low || value > axis.high || (factor > 1 && every > 1)) continue;
      const bool labelled = (factor == 1 && (exponent - first) % every == 0) || (few && (factor == 2 || factor == 5));
      if (!labelled && last - first > decades_ticked_max) continue;
      axis.ticks.push_back({value, labelled ? power_label(value, exponent, plain) : std::string{}});
    }
  }
  return axis;
}

}  // namespace

double Axis::share(double value) const {
  if (std::isnan(value)) return value;
  const double share = logarithmic ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                                   : (value / 2 - low / 2) / (high / 2 - low / 2);
  return std::isinf(value) ? value : std::clamp(share, 0.0, 1.0);
}

Axis value_axis(const std::vector<double>& values, int count, bool from_zero) {
  Range range = range_of(values);
  constexpr double decades = 100, tiny = 1e-300;
  if (range.low > tiny && range.high < huge && range.high / range.low > decades) return logarithmic_axis(range, count);
  // The axis begins at zero if this costs little room, or if zero is wanted.
  if (range.low > 0 && (from_zero || range.low < range.high / 2)) range.low = 0;
  if (range.high - range.low <= std::abs(range.high) * 1e-12) {
    const double half = range.high == 0 ? 1 : std::abs(range.high) / 10;
    if (!from_zero) range.low -= half;
    range.high += half;
  }
  const double step = nice_step(range.high - range.low, count, false);
  Axis axis;
  axis.low = std::floor(range.low / step + 1e-9) * step;
  axis.high = std::ceil(range.high / step - 1e-9) * step;
  put_linear_ticks(axis, step);
  return axis;
}

Axis position_axis(const std::vector<double>& values, int count) {
  Range range = range_of(values);
  if (range.high - range.low <= std::abs(range.high) * 1e-12) {
    const double half = std::max(0.5, std::abs(range.high) / 1000);
    range.low -= half;
    range.high += half;
  }
  const double step = nice_step(range.high - range.low, count, range.whole);
  const double margin = (range.high - range.low) * 0.015;  // so that no marker stands on the frame
  Axis axis;
  axis.low = range.low;
  axis.high = range.high;
  put_linear_ticks(axis, step);
  axis.low -= margin;
  axis.high += margin;
  return axis;
}

}  // namespace sabath
