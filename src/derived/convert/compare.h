// What an original and a converted model gave, compared number by number. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convert/yardstick.h"
#include "ort/tensor.h"

namespace sabath {

struct OutputDifference {
  std::string trouble;  // the shapes differ: what is below is not known
  std::uint64_t elements = 0;
  std::uint64_t outside = 0;  // elements that differ by more than is allowed, or by being no numbers
  double max_abs = 0;         // the largest difference
  double share = 0;           // the largest one of what is allowed: 1 is all of it
  double rms = 0;             // root of the mean square
  std::uint64_t nan_original = 0, nan_converted = 0;
  // Of floats with at least 2 columns: the rows of the last axis whose largest element is the same. Where it is
  // another, and the original's leads by no more than rounding and tolerance, the two count as one.
  std::optional<double> argmax_equal;
  std::uint64_t argmax_other = 0;  // rows whose largest element is another
  [[nodiscard]] bool is_equal() const { return trouble.empty() && outside == 0 && argmax_other == 0; }
};

// Types may differ: both are compared as double; whole numbers of 64 bits exactly where both are of one type.
[[nodiscard]] OutputDifference difference_of(const Tensor& original, const Tensor& converted,
                                             const Yardstick& yardstick);

}  // namespace sabath
