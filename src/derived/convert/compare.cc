#include "convert/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::size_t largest_in_row(const Tensor& tensor, std::size_t row, std::size_t columns) {
  std::size_t largest = row * columns;
  for (std::size_t i = largest + 1; i < (row + 1) * columns; ++i) {
    if (number_in(tensor, i) > number_in(tensor, largest)) largest = i;
  }
  return largest;
}

// By how much the elements of a row differ, in the middle one of all rows.
double usual_range(const Tensor& tensor, std::size_t rows, std::size_t columns) {
  std::vector<double> ranges;
  for (std::size_t row = 0; row < rows; ++row) {
    double least = HUGE_VAL, largest = -HUGE_VAL;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
      least = std::min(least, number_in(tensor, i));
      largest = std::max(largest, number_in(tensor, i));
    }
    ranges.push_back(largest - least);
  }
  const auto middle = ranges.begin() + static_cast<std::ptrdiff_t>(rows / 2);
  std::nth_element(ranges.begin(), middle, ranges.end());
  return std::isfinite(*middle) ? *middle : 0;
}

void compare_largest(const Tensor& a, const Tensor& b, const Yardstick& yardstick, OutputDifference& all) {
  if (a.shape.size() < 2 || a.shape.back() < 2 || !is_floating(a.type) || all.elements == 0) return;
  const auto columns = static_cast<std::size_t>(a.shape.back());
  const std::size_t rows = all.elements / columns;
  const double range = usual_range(a, rows, columns) * yardstick.tolerance().relative;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t i = largest_in_row(a, row, columns), j = largest_in_row(b, row, columns);
    if (i == j) continue;
    const double lead = number_in(a, i) - number_in(a, j);
    const double noise = yardstick.noise(a, i) + yardstick.noise(a, j);
    if (lead > range + noise + 2 * (yardstick.resolution(number_in(a, i)) + yardstick.tolerance().absolute))
      ++all.argmax_other;
  }
  all.argmax_equal = static_cast<double>(rows - all.argmax_other) / static_cast<double>(rows);
}

}  // namespace

OutputDifference difference_of(const Tensor& original, const Tensor& converted, const Yardstick& yardstick) {
  OutputDifference all;
  if (original.shape != converted.shape) {
    all.trouble = fmt::format("its shape is {}, and the original's is {}", shape_text(converted.shape),
                              shape_text(original.shape));
    return all;
  }
  all.elements = original.bytes.size() / size_bytes(original.type);
  if (original.type == converted.type && original.bytes == converted.bytes && !is_floating(original.type)) return all;
  double squares = 0;
  for (std::size_t i = 0; i < all.elements; ++i) {
    const double a = number_in(original, i), b = number_in(converted, i);
    const bool no_a = std::isnan(a), no_b = std::isnan(b);
    all.nan_original += no_a ? 1 : 0;
    all.nan_converted += no_b ? 1 : 0;
    if (no_a != no_b) ++all.outside;
    if (no_a || no_b || a == b) continue;  // infinities of one sign are equal
    const double off = std::abs(a - b), allowed = yardstick.allowed(original, i, a);
    if (!std::isfinite(off) || off > allowed) ++all.outside;
    all.max_abs = std::max(all.max_abs, off);
    all.share = std::max(all.share, allowed > 0 ? off / allowed : HUGE_VAL);
    squares += off * off;
  }
  // Large whole numbers that are one double, and not one number.
  if (all.outside == 0 && all.max_abs == 0 && original.type == converted.type && !is_floating(original.type))
    all.outside = 1;
  if (all.elements > 0) all.rms = std::sqrt(squares / static_cast<double>(all.elements));
  compare_largest(original, converted, yardstick, all);
  return all;
}

}  // namespace sabath
