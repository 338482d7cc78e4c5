#include "convert/yardstick.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <span>

#include "convert/compare.h"

namespace sabath {
namespace {

Tensor table(std::int64_t columns, const std::vector<float>& values) {
  Tensor made{TensorType::float32,
              {static_cast<std::int64_t>(values.size()) / columns, columns},
              std::vector<std::byte>(values.size() * sizeof(float))};
  std::ranges::copy(std::as_bytes(std::span(values)), made.bytes.begin());
  return made;
}

constexpr Tolerance usual{0, 1e-3};

Yardstick spread_of(const Tensor& original) {
  return {{&original}, {original.shape.front()}, 1, TensorType::float32, usual};
}

// What `make` gives for -4, -3, ... 4.
template <typename Make>
Tensor column(const Make& make) {
  std::vector<float> values;
  for (int x = -4; x <= 4; ++x) values.push_back(static_cast<float>(make(static_cast<double>(x))));
  return table(1, values);
}

TEST(Yardstick, SmallOutputsOfAnotherSignAreNotEqual) {
  const Tensor original = column([](double x) { return 1e-6 * x; });
  EXPECT_FALSE(difference_of(original, column([](double x) { return -1e-6 * x; }), spread_of(original)).is_equal());
  EXPECT_TRUE(difference_of(original, column([](double x) { return 1.0005e-6 * x; }), spread_of(original)).is_equal());
  EXPECT_EQ(spread_of(original).trouble(), "");
}

TEST(Yardstick, AConstantPartHidesNothing) {
  const Tensor original = column([](double x) { return 1e5 + x; });
  EXPECT_FALSE(difference_of(original, column([](double x) { return 1e5 - x; }), spread_of(original)).is_equal());
  EXPECT_TRUE(difference_of(original, original, spread_of(original)).is_equal());
  EXPECT_EQ(spread_of(original).trouble(), "");
}

TEST(Yardstick, WhatRoundingHidesCannotBeJudged) {
  const Tensor hidden = column([](double x) { return 1e6 + 0.1 * x; });
  EXPECT_NE(spread_of(hidden).trouble(), "");
  const Tensor half = column([](double x) { return 0.5 + 1e-7 * x; });  // between 0 and 1, and no share of anything
  EXPECT_NE(spread_of(half).trouble(), "");
  const Tensor fine = column([](double x) { return x; });
  EXPECT_NE((Yardstick{{&fine}, {9}, 1, TensorType::float32, {1e9, 1e-3}}.trouble()), "");  // stated by its user
  EXPECT_NE((Yardstick{{&fine}, {9}, 1, TensorType::float32, {0, 2}}.trouble()), "");
  const float nan = std::nanf("");
  const Tensor nothing = table(1, {nan, nan, nan});
  EXPECT_NE(spread_of(nothing).trouble(), "");
  EXPECT_NE(spread_of(table(1, {})).trouble(), "");
}

TEST(Yardstick, EachColumnHasItsOwnSpread) {
  const Tensor original = table(2, {1e5F, 1e-3F, 2e5F, 2e-3F, 3e5F, -1e-3F, 4e5F, 4e-3F});
  const Tensor wrong = table(2, {1e5F, -1e-3F, 2e5F, -2e-3F, 3e5F, 1e-3F, 4e5F, -4e-3F});
  EXPECT_EQ(difference_of(original, wrong, spread_of(original)).outside, 4U);
  EXPECT_EQ(spread_of(original).trouble(), "");
}

TEST(Yardstick, FeaturesAreFoundWhereverTheSamplesStand) {
  const auto turned = [](float sign, std::int64_t samples) {  // pressures, then velocities
    std::vector<float> values;
    for (std::int64_t x = 0; x < samples; ++x) values.push_back(1e5F * static_cast<float>(x));
    for (std::int64_t x = 0; x < samples; ++x) values.push_back(sign * 1e-3F * static_cast<float>(x));
    return table(samples, values);
  };
  const auto flat = [](float sign, std::int64_t samples) {
    std::vector<float> values;
    for (std::int64_t x = 0; x < samples; ++x) {
      values.push_back(1e5F * static_cast<float>(x));
      values.push_back(sign * 1e-3F * static_cast<float>(x));
    }
    Tensor made = table(1, values);
    made.shape.pop_back();
    return made;
  };
  for (const auto& make : {std::function<Tensor(float, std::int64_t)>(turned), {flat}}) {
    const Tensor nine = make(1, 9), three = make(1, 3);
    const Yardstick yardstick{{&nine, &three}, {9, 3}, 1, TensorType::float32, usual};
    EXPECT_EQ(yardstick.features(), 2U);
    EXPECT_EQ(difference_of(nine, make(-1, 9), yardstick).outside, 8U);
    EXPECT_EQ(difference_of(three, make(-1, 3), yardstick).outside, 2U);
  }
}

TEST(Yardstick, OneGiantHidesNoneOfTheOthers) {
  Tensor original = column([](double x) { return x; }), wrong = column([](double x) { return -x; });
  const float giant = 1e9F;
  std::memcpy(original.bytes.data(), &giant, sizeof giant);
  std::memcpy(wrong.bytes.data(), &giant, sizeof giant);
  EXPECT_TRUE(!spread_of(original).trouble().empty() ||
              !difference_of(original, wrong, spread_of(original)).is_equal());
}

TEST(Yardstick, TwoPlacesFarApartHideWhatEitherDoes) {
  const Tensor original = column([](double x) { return x > 0 ? 1e9 : x; });
  const Tensor wrong = column([](double x) { return x > 0 ? 1e9 : -x; });
  EXPECT_TRUE(!spread_of(original).trouble().empty() ||
              !difference_of(original, wrong, spread_of(original)).is_equal());
  const Tensor half = table(1, {1e9F, 1e9F, 1e9F, 1e9F, 1e9F, 1, 2, 3, 4, -5});
  EXPECT_NE(spread_of(half).trouble(), "");
}

TEST(Yardstick, SaturatedProbabilitiesAreJudgedOnTheScaleOfOne) {
  const Tensor original = table(2, {1, 1e-9F, 0.9999999F, 1e-7F, 1, 3e-10F, 0.2F, 0.8F});
  const Tensor rounded = table(2, {1, 0, 1, 6e-8F, 1, 0, 0.20001F, 0.79999F});
  EXPECT_EQ(spread_of(original).trouble(), "");
  EXPECT_TRUE(difference_of(original, rounded, spread_of(original)).is_equal());
}

TEST(Yardstick, AConstantIsJudgedByItsValue) {
  const Tensor original = table(1, {5, 5, 5, 5});
  EXPECT_EQ(spread_of(original).constants(), 1U);
  EXPECT_EQ(spread_of(original).trouble(), "");
  EXPECT_TRUE(difference_of(original, table(1, {5.004F, 5, 5, 5}), spread_of(original)).is_equal());
  EXPECT_FALSE(difference_of(original, table(1, {5.2F, 5, 5, 5}), spread_of(original)).is_equal());
  const Tensor small = table(1, {1e-6F, 1e-6F});
  EXPECT_FALSE(difference_of(small, table(1, {-1e-6F, -1e-6F}), spread_of(small)).is_equal());
}

TEST(Yardstick, TheLargestOfARowDecidesWhereAllRowsMoveTogether) {
  std::vector<float> values, turned;
  for (int x = 0; x < 16; ++x) {
    const float common = 1000.0F * static_cast<float>(x);
    for (const float part : {0.1F, -0.1F, 0.05F}) {
      values.push_back(common + part);
      turned.push_back(common - part);
    }
  }
  const Tensor original = table(3, values), wrong = table(3, turned);
  const OutputDifference difference = difference_of(original, wrong, spread_of(original));
  EXPECT_FALSE(difference.is_equal());
  EXPECT_LT(*difference.argmax_equal, 1);
}

TEST(Yardstick, NoiseExcusesItsOwnColumnOnly) {
  const Tensor first = table(2, {0, 1, 1, 2, 2, 3, 3, 4}), again = table(2, {0.5F, 1, 0.5F, 2, 2.5F, 3, 2.5F, 4});
  Yardstick yardstick = spread_of(first);
  yardstick.set_noise({&first}, {&again});
  EXPECT_TRUE(difference_of(first, again, yardstick).is_equal());
  const Tensor wrong = table(2, {0, -1, 1, -2, 2, -3, 3, -4});
  EXPECT_EQ(difference_of(first, wrong, yardstick).outside, 4U);
}

}  // namespace
}  // namespace sabath
