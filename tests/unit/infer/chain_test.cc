#include "infer/chain.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

TensorSlot slot(const std::string& name, std::vector<std::int64_t> shape, TensorType type = TensorType::float32) {
  return {name, type, std::move(shape), {}};
}

std::string refusal(const ModelSlots& giver, const ModelSlots& taker) {
  try {
    (void)joint(giver, taker);
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
    return error.failure().message;
  }
  return "";
}

TEST(Chain, OutputsMeetInputsByName) {
  const ModelSlots giver{"a", {slot("x", {-1, 8})}, {slot("mean", {-1, 2}), slot("code", {-1, 32})}};
  const ModelSlots one{"b", {slot("code", {-1, 32})}, {}};
  const ModelSlots two{"c", {slot("code", {-1, 32}), slot("mean", {-1, 2})}, {}};
  EXPECT_EQ(joint(giver, one), std::vector<std::size_t>{1});
  EXPECT_EQ(joint(giver, two), (std::vector<std::size_t>{1, 0}));
  const ModelSlots other{"d", {slot("z", {-1, 32})}, {}};
  EXPECT_EQ(refusal(giver, other), "d wants z[?,32] float32, and a gives mean[?,2] float32, code[?,32] float32");
}

TEST(Chain, TheOnlyOutputMeetsTheOnlyInput) {
  const ModelSlots giver{"encoder", {}, {slot("code", {-1, 32})}};
  EXPECT_EQ(joint(giver, {"decoder", {slot("z", {-1, 32})}, {}}), std::vector<std::size_t>{0});
  EXPECT_EQ(refusal(giver, {"decoder", {slot("z", {-1, 64})}, {}}),
            "decoder after encoder: it wants z[?,64] float32, and gets code[?,32] float32");
  EXPECT_NE(refusal(giver, {"decoder", {slot("z", {-1, 32}, TensorType::float64)}, {}}), "");
}

TEST(Chain, HowManySamplesAtOnce) {
  EXPECT_FALSE(batch_of({"a", {slot("x", {-1, 8})}, {}}));
  EXPECT_EQ(batch_of({"a", {slot("x", {4, 8}), slot("y", {4})}, {}}), 4);
  EXPECT_THROW((void)batch_of({"a", {slot("x", {4, 8}), slot("y", {-1})}, {}}), Error);
  EXPECT_THROW((void)batch_of({"a", {slot("x", {})}, {}}), Error);
  EXPECT_THROW((void)batch_of({"a", {slot("x", {0, 8})}, {}}), Error);
}

}  // namespace
}  // namespace sabath
