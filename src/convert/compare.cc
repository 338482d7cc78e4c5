#include "convert/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "formats/npy.h"

namespace sabath {
namespace {

constexpr double smallest_floor = 1e-12;

template <typename Number>
Number element(const Tensor& tensor, std::size_t i) {
  Number value{};
  std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
  return value;
}

double number(const Tensor& tensor, std::size_t i) {
  switch (tensor.type) {
    case TensorType::float32:
      return element<float>(tensor, i);
    case TensorType::float64:
      return element<double>(tensor, i);
    case TensorType::float16:
      return half_to_float(element<std::uint16_t>(tensor, i));
    case TensorType::int8:
      return element<std::int8_t>(tensor, i);
    case TensorType::int16:
      return element<std::int16_t>(tensor, i);
    case TensorType::int32:
      return element<std::int32_t>(tensor, i);
    case TensorType::int64:
      return static_cast<double>(element<std::int64_t>(tensor, i));
    case TensorType::uint16:
      return element<std::uint16_t>(tensor, i);
    case TensorType::uint32:
      return element<std::uint32_t>(tensor, i);
    case TensorType::uint64:
      return static_cast<double>(element<std::uint64_t>(tensor, i));
    case TensorType::uint8:
    case TensorType::boolean:
      break;
  }
  return element<std::uint8_t>(tensor, i);
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::size_t largest_in_row(const Tensor& tensor, std::size_t row, std::size_t columns) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < columns; ++i) {
    if (number(tensor, row * columns + i) > number(tensor, row * columns + largest)) largest = i;
  }
  return largest;
}

std::optional<double> argmax_agreement(const Tensor& a, const Tensor& b, std::size_t elements) {
  if (a.shape.size() < 2 || a.shape.back() < 2 || !is_floating(a.type) || elements == 0) return std::nullopt;
  const auto columns = static_cast<std::size_t>(a.shape.back());
  const std::size_t rows = elements / columns;
  std::size_t same = 0;
  for (std::size_t row = 0; row < rows; ++row)
    same += largest_in_row(a, row, columns) == largest_in_row(b, row, columns) ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(rows);
}

// Two numbers of one element, neither of them NaN.
void add(OutputDifference& all, double a, double b, const Tolerance& tolerance, double& squares) {
  const double off = a == b ? 0 : std::abs(a - b);  // infinities of one sign are equal
  const bool right = off == 0 || (std::isfinite(off) && off <= tolerance.absolute + tolerance.relative * std::abs(a));
  if (!right) ++all.outside;
  all.max_abs = std::max(all.max_abs, off);
  all.max_rel = std::max(all.max_rel, off / std::max(std::abs(a), all.floor));
  squares += off * off;
}

}  // namespace

bool is_floating(TensorType type) noexcept {
  return type == TensorType::float16 || type == TensorType::float32 || type == TensorType::float64;
}

Tolerance usual_tolerance(TensorType type) noexcept {
  if (type == TensorType::float32) return {1e-4, 1e-3};
  if (type == TensorType::float64) return {1e-8, 1e-6};
  if (type == TensorType::float16) return {1e-2, 1e-2};
  return {};
}

OutputDifference difference_of(const Tensor& original, const Tensor& converted, const Tolerance& tolerance) {
  OutputDifference all;
  all.floor = std::max(tolerance.absolute, smallest_floor);
  if (original.shape != converted.shape) {
    all.trouble = fmt::format("its shape is {}, and the original's is {}", shape_text(converted.shape),
                              shape_text(original.shape));
    return all;
  }
  all.elements = original.bytes.size() / size_bytes(original.type);
  if (original.type == converted.type && original.bytes == converted.bytes && !is_floating(original.type)) return all;
  double squares = 0;
  for (std::size_t i = 0; i < all.elements; ++i) {
    const double a = number(original, i), b = number(converted, i);
    const bool no_a = std::isnan(a), no_b = std::isnan(b);
    all.nan_original += no_a ? 1 : 0;
    all.nan_converted += no_b ? 1 : 0;
    if (no_a != no_b) ++all.outside;
    if (!no_a && !no_b) add(all, a, b, tolerance, squares);
  }
  // Large whole numbers that are one double, and not one number.
  if (all.outside == 0 && all.max_abs == 0 && original.type == converted.type && !is_floating(original.type))
    all.outside = 1;
  if (all.elements > 0) all.rms = std::sqrt(squares / static_cast<double>(all.elements));
  all.argmax_equal = argmax_agreement(original, converted, all.elements);
  return all;
}

}  // namespace sabath
