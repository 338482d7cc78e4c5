// What an original and a converted model gave, compared number by number. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort/tensor.h"

namespace sabath {

struct Tolerance {
  double absolute = 0, relative = 0;  // |a - b| may be absolute + relative * |a|, a being the original's
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

// Stated before anything is compared. float32: 1e-4 and 1e-3; float64: 1e-8 and 1e-6; float16: 1e-2 and 1e-2. Whole
// numbers and truth values must be equal.
[[nodiscard]] Tolerance usual_tolerance(TensorType type) noexcept;

struct OutputDifference {
  std::string trouble;  // the shapes differ: what is below is not known
  std::uint64_t elements = 0;
  std::uint64_t outside = 0;        // elements that differ by more than the tolerance, or by being no numbers
  double max_abs = 0, max_rel = 0;  // relative to max(|a|, floor)
  double floor = 0, rms = 0;
  std::uint64_t nan_original = 0, nan_converted = 0;
  std::optional<double> argmax_equal;  // share of the rows of the last axis; of floats with at least 2 columns
  [[nodiscard]] bool is_equal() const { return trouble.empty() && outside == 0; }
};

// Types may differ: both are compared as double; whole numbers of 64 bits exactly where both are of one type.
[[nodiscard]] OutputDifference difference_of(const Tensor& original, const Tensor& converted,
                                             const Tolerance& tolerance);

[[nodiscard]] bool is_floating(TensorType type) noexcept;

}  // namespace sabath
