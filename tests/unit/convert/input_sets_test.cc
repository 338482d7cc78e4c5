#include "convert/input_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "convert/arrays.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class InputSetsTest : public ::testing::Test {
 protected:
  fs::path array(const std::string& name, std::int64_t rows, std::int64_t columns,
                 TensorType type = TensorType::float32) {
    Tensor tensor{type, {rows, columns}, {}};
    tensor.bytes.resize(static_cast<std::size_t>(rows * columns) * size_bytes(type));
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const auto value = static_cast<float>(i / columns);
      const auto whole = static_cast<std::int32_t>(i / columns);
      std::memcpy(tensor.bytes.data() + i * 4, type == TensorType::float32 ? static_cast<const void*>(&value) : &whole,
                  4);
    }
    write_array(directory_ / name, tensor);
    return directory_ / name;
  }
  static std::string refusal(const InputChoice& choice) {
    try {
      (void)make_input_sets(choice);
    } catch (const Error& error) {
      return error.failure().message;
    }
    return "";
  }
  test::TempDir directory_;
};

TEST_F(InputSetsTest, TheSameSeedDrawsTheSame) {
  const fs::path data = array("x.npy", 100, 3);
  const auto made = make_input_sets({{}, {data}, 10, 1, true});
  EXPECT_EQ(made.rows, make_input_sets({{}, {data}, 10, 1, true}).rows);
  EXPECT_NE(made.rows, make_input_sets({{}, {data}, 10, 2, true}).rows);
  EXPECT_EQ(std::set<std::uint64_t>(made.rows.begin(), made.rows.end()).size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(made.rows));
  ASSERT_EQ(made.sets.size(), 5U);
  EXPECT_EQ(made.sets[1].name, "data");
  float first = 0;
  std::memcpy(&first, made.sets[1].inputs[0].bytes.data(), 4);
  EXPECT_EQ(first, static_cast<float>(made.rows[0]));  // the rows that are named, and no others
  std::vector<std::int64_t> batches;
  for (const InputSet& set : made.sets) batches.push_back(set.batch());
  EXPECT_EQ(batches, (std::vector<std::int64_t>{1, 10, 3, 1, 1}));
}

TEST_F(InputSetsTest, AFixedBatchIsKept) {
  const auto made = make_input_sets({{array("one.npy", 4, 3)}, {array("x.npy", 100, 3)}, 0, 0, false});
  for (const InputSet& set : made.sets) EXPECT_EQ(set.batch(), 4) << set.name;
}

TEST_F(InputSetsTest, RandomWholeNumbersStayInRange) {
  const auto made = make_input_sets({{}, {array("i.npy", 9, 2, TensorType::int32)}, 0, 5, true});
  const Tensor& random = made.sets[2].inputs[0];
  for (std::size_t i = 0; i < random.bytes.size() / 4; ++i) {
    std::int32_t value = 0;
    std::memcpy(&value, random.bytes.data() + i * 4, 4);
    EXPECT_TRUE(value >= 0 && value < 9) << value;
  }
}

TEST_F(InputSetsTest, WhatDoesNotBelongTogetherIsRefused) {
  const fs::path x = array("x.npy", 10, 3), y = array("y.npy", 9, 3), i = array("i.npy", 10, 3, TensorType::int32);
  EXPECT_EQ(refusal({}), "a model's inputs are not said");
  EXPECT_NE(refusal({{}, {x, y}, 0, 0, true}).find("has 9 samples"), std::string::npos);
  EXPECT_NE(refusal({{i}, {x}, 0, 0, true}).find("has int32"), std::string::npos);
  EXPECT_NE(refusal({{x, x}, {x}, 0, 0, true}).find("2 arrays are given as the dummy input, and 1 as data"),
            std::string::npos);
  EXPECT_NE(refusal({{}, {x}, 11, 0, true}).find("11 samples are wanted"), std::string::npos);
}

TEST(SplitMix, IsTheKnownOne) {  // the first numbers of seed 1234567, as its author's program prints them
  std::uint64_t state = 1234567;
  EXPECT_EQ(next_random(state), 6457827717110365317U);
  EXPECT_EQ(next_random(state), 3203168211198807973U);
}

}  // namespace
}  // namespace sabath
