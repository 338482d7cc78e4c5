#include "ort/tensor.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

TEST(Tensor, BytesOfAShape) {
  EXPECT_EQ(bytes_of(TensorType::float32, {}, 4), 4U);
  EXPECT_EQ(bytes_of(TensorType::float64, {2, 3}, 48), 48U);
  EXPECT_EQ(bytes_of(TensorType::int8, {INT64_MAX, 0, INT64_MAX}, 0), 0U) << "nothing, however it is spread";
  EXPECT_THROW((void)bytes_of(TensorType::float64, {2, 3}, 47), Error);
  EXPECT_THROW((void)bytes_of(TensorType::float64, {INT64_MAX, INT64_MAX}, SIZE_MAX - 1), Error);
  EXPECT_THROW((void)bytes_of(TensorType::uint8, {-1}, 100), Error);
}

TEST(Tensor, EachTypeHasItsNumber) {
  for (int number = -1; number < 30; ++number) {
    try {
      const TensorType type = tensor_type_of(number, "x");
      EXPECT_EQ(onnx_number(type), number);
      EXPECT_FALSE(name(type).empty());
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    }
  }
  EXPECT_EQ(name(tensor_type_of(1, "x")), "float32");
  EXPECT_EQ(name(tensor_type_of(11, "x")), "float64");
  EXPECT_EQ(name(tensor_type_of(9, "x")), "bool");
}

TEST(Tensor, WhatFitsASlot) {
  const TensorSlot slot{"x", TensorType::float32, {-1, 32}, {"batch", ""}};
  EXPECT_EQ(text_of(slot), "x[batch,32] float32");
  EXPECT_EQ(why_not_fitting(slot, TensorType::float32, {7, 32}), "");
  EXPECT_EQ(why_not_fitting(slot, TensorType::float64, {7, 32}),
            "it wants x[batch,32] float32, and gets [7,32] float64");
  EXPECT_NE(why_not_fitting(slot, TensorType::float32, {7, 33}), "");
  EXPECT_NE(why_not_fitting(slot, TensorType::float32, {7, 32, 1}), "");
  EXPECT_EQ(why_not_fitting(slot, TensorSlot{"code", TensorType::float32, {-1, -1}, {}}), "") << "perhaps";
  EXPECT_EQ(why_not_fitting(slot, TensorSlot{"z", TensorType::float32, {-1, 64}, {"n", ""}}),
            "it wants x[batch,32] float32, and gets z[n,64] float32");
}

}  // namespace
}  // namespace sabath
