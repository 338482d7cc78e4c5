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

Yardstick of(const Tensor& original, const Tolerance& tolerance = {}) {
  return {{&original}, {original.shape.front()}, 1, original.type, tolerance};
}

TEST(Compare, EachElementHasItsOwnBound) {
  const auto original = floats({4}, {0, 1, 100, -100});  // around 1, by 99
  const auto yardstick = of(original, {0, 1e-2});
  EXPECT_TRUE(difference_of(original, floats({4}, {0.9F, 1.9F, 100.9F, -100.9F}), yardstick).is_equal());
  const auto off = difference_of(original, floats({4}, {1.1F, 1, 102, -100}), yardstick);
  EXPECT_EQ(off.outside, 2U);
  EXPECT_NEAR(off.max_abs, 2, 1e-6);
  EXPECT_NEAR(off.share, 2 / 0.99, 1e-3);
  EXPECT_NEAR(off.rms, std::sqrt((1.1 * 1.1 + 2 * 2) / 4), 1e-6);
}

TEST(Compare, WhatIsNoNumberMustBeNoneInBoth) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const auto original = floats({3}, {nan, inf, 1});
  EXPECT_TRUE(difference_of(original, original, of(original)).is_equal());
  EXPECT_EQ(difference_of(original, floats({3}, {0, inf, 1}), of(original, {1, 1})).outside, 1U);
  EXPECT_EQ(difference_of(original, floats({3}, {nan, -inf, 1}), of(original, {1, 1})).outside, 1U);
  EXPECT_EQ(difference_of(original, floats({3}, {nan, 1, inf}), of(original, {1, 1})).outside, 2U);
  EXPECT_EQ(difference_of(original, floats({3}, {nan, nan, nan}), of(original)).nan_converted, 3U);
}

TEST(Compare, ShapesAreToldAndTypesMayDiffer) {
  const auto column = floats({2, 1}, {1, 2});
  EXPECT_EQ(difference_of(column, floats({2}, {1, 2}), of(column)).trouble,
            "its shape is [2], and the original's is [2,1]");
  const auto doubles = tensor(TensorType::float64, {2}, std::vector<double>{1, 2});
  EXPECT_TRUE(difference_of(doubles, floats({2}, {1, 2}), of(doubles)).is_equal());
}

TEST(Compare, LargeWholeNumbersAreComparedExactly) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const auto one = tensor(TensorType::int64, {1}, std::vector<std::int64_t>{large});
  const auto other = tensor(TensorType::int64, {1}, std::vector<std::int64_t>{large - 1});
  EXPECT_TRUE(difference_of(one, one, of(one)).is_equal());
  EXPECT_FALSE(difference_of(one, other, of(one)).is_equal());
}

TEST(Compare, ArgmaxOfTheLastAxis) {
  const auto original = floats({2, 3}, {1, 2, 3, 9, 1, 1});
  EXPECT_EQ(difference_of(original, floats({2, 3}, {1, 4, 3, 9, 1, 1}), of(original)).argmax_equal, 0.5);
  const auto row = floats({3}, {1, 2, 3});
  EXPECT_EQ(difference_of(row, row, of(row)).argmax_equal, std::nullopt);
}

}  // namespace
}  // namespace sabath
