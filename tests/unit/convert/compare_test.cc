#include "convert/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace sabath {
namespace {

template <typename Number>
Tensor tensor(TensorType type, std::vector<std::int64_t> shape, const std::vector<Number>& values) {
  Tensor made{type, std::move(shape), std::vector<std::byte>(values.size() * sizeof(Number))};
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

Tensor floats(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  return tensor(TensorType::float32, std::move(shape), values);
}

TEST(Compare, EachElementHasItsOwnBound) {
  const Tolerance tolerance{1e-3, 1e-2};
  const auto original = floats({4}, {0, 1, 100, -100});
  EXPECT_TRUE(difference_of(original, floats({4}, {0.0009F, 1.0105F, 100.9F, -100.9F}), tolerance).is_equal());
  const auto off = difference_of(original, floats({4}, {0.0011F, 1.02F, 100, -100}), tolerance);
  EXPECT_EQ(off.outside, 2U);
  EXPECT_NEAR(off.max_abs, 0.02, 1e-6);
  EXPECT_NEAR(off.max_rel, 1.1, 1e-3);  // relative to the floor, where the original is 0
  EXPECT_NEAR(off.rms, std::sqrt((0.0011 * 0.0011 + 0.02 * 0.02) / 4), 1e-6);
}

TEST(Compare, WhatIsNoNumberMustBeNoneInBoth) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const auto original = floats({3}, {nan, inf, 1});
  EXPECT_TRUE(difference_of(original, original, {}).is_equal());
  EXPECT_EQ(difference_of(original, floats({3}, {0, inf, 1}), {1, 1}).outside, 1U);
  EXPECT_EQ(difference_of(original, floats({3}, {nan, -inf, 1}), {1, 1}).outside, 1U);
  EXPECT_EQ(difference_of(original, floats({3}, {nan, 1, inf}), {1, 1}).outside, 2U);
  EXPECT_EQ(difference_of(original, floats({3}, {nan, nan, nan}), {}).nan_converted, 3U);
}

TEST(Compare, ShapesAreToldAndTypesMayDiffer) {
  EXPECT_EQ(difference_of(floats({2, 1}, {1, 2}), floats({2}, {1, 2}), {}).trouble,
            "its shape is [2], and the original's is [2,1]");
  EXPECT_TRUE(
      difference_of(tensor(TensorType::float64, {2}, std::vector<double>{1, 2}), floats({2}, {1, 2}), {}).is_equal());
}

TEST(Compare, LargeWholeNumbersAreComparedExactly) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const auto one = tensor(TensorType::int64, {1}, std::vector<std::int64_t>{large});
  const auto other = tensor(TensorType::int64, {1}, std::vector<std::int64_t>{large - 1});
  EXPECT_TRUE(difference_of(one, one, {}).is_equal());
  EXPECT_FALSE(difference_of(one, other, {}).is_equal());
}

TEST(Compare, ArgmaxOfTheLastAxis) {
  const auto original = floats({2, 3}, {1, 2, 3, 9, 1, 1});
  EXPECT_EQ(difference_of(original, floats({2, 3}, {1, 4, 3, 9, 1, 1}), {9, 0}).argmax_equal, 0.5);
  EXPECT_EQ(difference_of(floats({3}, {1, 2, 3}), floats({3}, {1, 2, 3}), {}).argmax_equal, std::nullopt);
}

}  // namespace
}  // namespace sabath
