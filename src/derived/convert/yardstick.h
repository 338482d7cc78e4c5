// By what the outputs of a converted model are judged: each by the spread of what the original gave. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort/tensor.h"

namespace sabath {

struct Tolerance {
  double absolute = 0, relative = 0;  // relative: to the spread
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

// Stated before anything is compared. float32: 1e-3 of the spread; float64: 1e-6; float16: 1e-2. Whole numbers and
// truth values must be equal.
[[nodiscard]] Tolerance usual_tolerance(TensorType type) noexcept;
[[nodiscard]] bool is_floating(TensorType type) noexcept;
[[nodiscard]] double number_in(const Tensor& tensor, std::size_t i);  // whole numbers of 64 bits: the nearest

// Values of one feature of an output, over the samples.
struct Slice {
  double centre = 0;          // their median
  double spread = 0;          // the median distance from it, of those that are not it; 0: all are one
  double half = 0;            // the least spread of the values below and above the median, by themselves
  double largest = 0;         // of their absolute values
  double noise = 0;           // of the original against itself, root of the mean square
  std::uint64_t numbers = 0;  // finite ones
};

// An element is right if it differs by at most
//   absolute + relative * max(spread, |a - centre|) + ulps * ulp(largest),
// a being the original's. A feature is a place behind the axis of the samples; where its number of places is not that
// of all sets, a place of the last axis, else the whole output. One that is constant has no spread: absolute + relative
// * |centre| takes its place.
class Yardstick {
 public:
  static constexpr double ulps = 4, resolved_from = 10, relative_max = 0.1;

  Yardstick() = default;
  // `originals`: what the original gave for each set, of that many samples. The first `best` of them say the spread;
  // what is constant there is looked for in all. `type`: of the fewer bits of both models'.
  Yardstick(const std::vector<const Tensor*>& originals, const std::vector<std::int64_t>& samples, std::size_t best,
            TensorType type, const Tolerance& tolerance);
  // The original against itself: what a noisy feature may differ by is 6 times its noise, besides.
  void set_noise(const std::vector<const Tensor*>& first, const std::vector<const Tensor*>& again);

  [[nodiscard]] double allowed(const Tensor& original, std::size_t i, double value) const;  // value: that of element i
  [[nodiscard]] double resolution(double value) const;                      // what rounding alone makes of it
  [[nodiscard]] double noise(const Tensor& original, std::size_t i) const;  // allowed besides, of an element
  [[nodiscard]] const Tolerance& tolerance() const noexcept { return tolerance_; }
  [[nodiscard]] std::string trouble() const;  // why nothing can be judged by it; "": it can
  [[nodiscard]] std::uint64_t features() const noexcept { return features_.size(); }
  [[nodiscard]] std::uint64_t hidden() const;     // features of shares that vary by less than rounding beside 1
  [[nodiscard]] std::uint64_t constants() const;  // features that are one value for all samples
  [[nodiscard]] std::uint64_t silent() const;     // features without any number
  [[nodiscard]] double least_spread() const;      // of the features that have one

 private:
  void find_features(const std::vector<const Tensor*>& originals, const std::vector<std::int64_t>& samples);
  [[nodiscard]] std::size_t feature(const Tensor& of, std::size_t i) const;
  [[nodiscard]] bool is_resolved(const Slice& slice) const;

  TensorType type_ = TensorType::float32;
  Tolerance tolerance_;
  double constant_absolute_ = 0;
  bool is_share_ = false;      // between 0 and 1, as probabilities: rounding is that of 1
  double farthest_ = 0;        // from its feature's centre, of the best sets
  std::uint64_t numbers_ = 0;  // of the best sets
  Slice whole_;
  std::optional<std::size_t> axis_;  // of the samples
  std::vector<Slice> features_ = std::vector<Slice>(1);
};

}  // namespace sabath
