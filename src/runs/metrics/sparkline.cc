#include "metrics/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace sabath {
namespace {

constexpr int heights = 8;

// The mean of the finite ones; NaN if there is none.
double mean(std::span<const double> values) {
  double sum = 0;
  int count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
}

std::vector<double> squeeze(std::span<const double> values, std::size_t width) {
  const std::size_t bars = std::min(width, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < bars; ++i) {
    const std::size_t begin = i * values.size() / bars, end = (i + 1) * values.size() / bars;
    means.push_back(mean(values.subspan(begin, end - begin)));
  }
  return means;
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width, bool utf8) {
  const std::vector<double> bars = squeeze(values, width);
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for (const double bar : bars) {
    if (!std::isfinite(bar)) continue;
    least = std::min(least, bar);
    greatest = std::max(greatest, bar);
  }
  static constexpr std::array<const char*, heights> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view plain = "_.,-~=+#";
  std::string line;
  for (const double bar : bars) {
    if (!std::isfinite(bar)) {
      line += utf8 ? "×" : "x";
      continue;
    }
    // In halves, so that the distance between two large values of opposite signs is finite.
    const double share = greatest > least ? (bar / 2 - least / 2) / (greatest / 2 - least / 2) : 0.5;
    const int height = std::clamp(static_cast<int>(share * heights), 0, heights - 1);
    if (utf8) {
      line += blocks[static_cast<std::size_t>(height)];
    } else {
      line += plain[static_cast<std::size_t>(height)];
    }
  }
  return line;
}

}  // namespace sabath
