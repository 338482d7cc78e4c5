#include "infer/samples.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "infer/numbers.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class Samples : public ::testing::Test {
 protected:
  fs::path put(const std::string& name, const std::string& text) {
    std::ofstream(directory / name) << text;
    return directory / name;
  }
  std::string refusal(const fs::path& file, const TensorSlot& wanted) {
    try {
      (void)open_samples(file, wanted);
    } catch (const Error& error) {
      return error.failure().message;
    }
    return "taken";
  }
  static std::vector<float> floats(const Tensor& tensor) {
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  }
  test::TempDir directory;
  const TensorSlot three{"x", TensorType::float32, {-1, 3}, {}};
};

TEST_F(Samples, LinesOfNumbers) {
  const auto reader = open_samples(put("a.csv", "a,b,c\n1,2,3\n\n4, 5;6\r\n-7e-1\t+8 nan\n"), three);
  EXPECT_EQ(reader->slot().shape, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(floats(reader->read(2)), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  const auto last = floats(reader->read(1));
  EXPECT_EQ(last[0], -0.7F);
  EXPECT_TRUE(last[2] != last[2]);
}

TEST_F(Samples, ALineIsCutIntoTheModelsShape) {
  const TensorSlot cut{"x", TensorType::int32, {-1, 2, -1}, {}};
  EXPECT_EQ(open_samples(put("a.txt", "1 2 3 4 5 6\n"), cut)->slot().shape, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_NE(refusal(put("b.txt", "1 2 3 4 5\n"), cut).find("5 numbers a sample"), std::string::npos);
}

TEST_F(Samples, WhatIsRefused) {
  EXPECT_NE(refusal(put("a.csv", "1,2,3\n4,5\n"), three).find("a.csv:2: 2 numbers, and 3 in the first sample"),
            std::string::npos);
  EXPECT_NE(refusal(put("a.csv", "1,2,3\n4,five,6\n"), three).find("a.csv:2: \"five\" is no float32"),
            std::string::npos);
  EXPECT_NE(refusal(put("a.csv", "1,two,3\n"), three).find("a.csv:1: \"two\" is no float32"), std::string::npos);
  EXPECT_NE(refusal(put("a.json", "{\"x\": 1}"), three).find("no JSON array"), std::string::npos);
  EXPECT_NE(refusal(put("a.json", "[[1,2,3],[4,5]]"), three).find("axis 1"), std::string::npos);
  EXPECT_NE(refusal(put("a.json", std::string(100000, '[')), three).find("no JSON array"), std::string::npos);
  EXPECT_NE(refusal(put("a.npy", "\x93NUMPY"), three), "taken");
  EXPECT_NE(refusal(put("a.bin", ""), three).find("none of .npy"), std::string::npos);
  EXPECT_NE(refusal(directory / "absent.csv", three), "taken");
  EXPECT_NE(refusal(put("a.csv", "300,1,1\n"), {"x", TensorType::uint8, {-1, 3}, {}}).find("no uint8"),
            std::string::npos);
}

TEST_F(Samples, ResultsComeBackAsTheyWere) {
  const TensorSlot slot{"y", TensorType::float32, {3, 2}, {}};
  const std::vector<float> values{0.1F, -1e-30F, 3e38F, 4, 5.5F, -0.0F};
  Tensor tensor{TensorType::float32, {3, 2}, std::vector<std::byte>(24)};
  std::memcpy(tensor.bytes.data(), values.data(), 24);
  for (const char* const name : {"y.npy", "y.csv", "y.txt", "y.json"}) {
    const auto writer = create_results(directory / name, slot);
    writer->write(tensor);
    EXPECT_FALSE(fs::exists(directory / name)) << "it appears when it is whole";
    writer->finish();
    const auto reader = open_samples(directory / name, {"y", TensorType::float32, {-1, 2}, {}});
    EXPECT_EQ(reader->slot().shape, slot.shape) << name;
    EXPECT_EQ(floats(reader->read(3)), values) << name;
  }
}

TEST(Numbers, HalfPrecision) {
  const auto text = [](std::uint16_t bits) {
    return number_text(TensorType::float16, reinterpret_cast<const std::byte*>(&bits));
  };
  EXPECT_EQ(text(0x3C00), "1");
  EXPECT_EQ(text(0xC000), "-2");
  EXPECT_EQ(text(0x3555), "0.333251953125");
  EXPECT_EQ(text(0x0001), "5.960464477539063e-08");
  EXPECT_EQ(text(0x7C00), "inf");
  EXPECT_EQ(text(0x7E00), "nan");
}

}  // namespace
}  // namespace sabath
