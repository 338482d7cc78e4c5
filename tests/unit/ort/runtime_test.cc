#include "ort/runtime.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ort/model.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

OrtPlaces places(std::optional<std::string> named) {
  return {[named = std::move(named)](const std::string& name) {
            return name == "SABATH_ORT" ? named : std::optional<std::string>();
          },
          fs::read_symlink("/proc/self/exe")};
}

std::string refusal(const std::optional<std::string>& named) {
  try {
    (void)OrtRuntime::open(places(named));
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::unavailable);
    EXPECT_NE(error.failure().hint.find("pip install onnxruntime"), std::string::npos);
    return error.failure().message;
  }
  return "opened";
}

TEST(OrtRuntime, WhatIsNotTaken) {
  const test::TempDir directory;
  const fs::path text = directory.path() / "libonnxruntime.so";
  std::ofstream(text) << "no library";
  fs::permissions(text, fs::perms(0644));
  EXPECT_NE(refusal("libonnxruntime.so").find("not an absolute path"), std::string::npos);
  EXPECT_NE(refusal((directory.path() / "none.so").string()).find("not there"), std::string::npos);
  EXPECT_NE(refusal(text.string()).find("libonnxruntime.so: "), std::string::npos);
  fs::permissions(text, fs::perms(0666));
  EXPECT_NE(refusal(text.string()).find("others may write it (mode 666)"), std::string::npos);
  EXPECT_EQ(refusal("/usr/lib/x86_64-linux-gnu/libz.so.1").find("opened"), std::string::npos) << "another library";
}

// y = max(x, 0) for x[n,3], by hand: ModelProto{ir_version 8, graph{node{Relu}, name, input, output}, opset 13}.
std::string relu_graph() {
  const auto field = [](int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  const auto value = [&](const std::string& name) {
    const std::string any = field(1, field(2, "n")), three = field(1, std::string("\x08\x03", 2));
    return field(1, name) + field(2, field(1, std::string("\x08\x01", 2) + field(2, any + three)));
  };
  const std::string node = field(1, "x") + field(2, "y") + field(4, "Relu");
  const std::string graph = field(1, node) + field(2, "g") + field(11, value("x")) + field(12, value("y"));
  return std::string("\x08\x08", 2) + field(7, graph) + field(8, std::string("\x10\x0d", 2));
}

// SABATH_ORT names the library of a runtime that was installed for the tests.
TEST(OrtModel, RunsAGraph) {
  const char* const named = std::getenv("SABATH_ORT");
  if (named == nullptr) GTEST_SKIP() << "no ONNX Runtime: SABATH_ORT names none";
  const auto runtime = OrtRuntime::open(places(named));
  EXPECT_FALSE(runtime->version().empty());
  const std::string graph = relu_graph();
  const test::TempDir directory;
  const OrtOptions options{.threads = 1, .optimised_file = directory.path() / "fast.onnx"};
  const OrtModel model(runtime, std::as_bytes(std::span(graph)), "relu", options);
  EXPECT_TRUE(fs::exists(options.optimised_file));
  ASSERT_EQ(model.inputs().size(), 1U);
  EXPECT_EQ(text_of(model.inputs()[0]), "x[n,3] float32");
  EXPECT_EQ(text_of(model.outputs().at(0)), "y[n,3] float32");

  const std::vector<float> values{-1, 2, -3, 4, -5, 6};
  Tensor input{TensorType::float32, {2, 3}, std::vector<std::byte>(24)};
  std::memcpy(input.bytes.data(), values.data(), 24);
  const std::vector<Tensor> results = model.run(std::span(&input, 1));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].shape, (std::vector<std::int64_t>{2, 3}));
  std::vector<float> came(6);
  ASSERT_EQ(results[0].bytes.size(), 24U);
  std::memcpy(came.data(), results[0].bytes.data(), 24);
  EXPECT_EQ(came, (std::vector<float>{0, 2, 0, 4, 0, 6}));

  input.shape = {3, 2};
  EXPECT_THROW((void)model.run(std::span(&input, 1)), Error);
  EXPECT_THROW((void)model.run({}), Error);
  try {
    const OrtModel bad(runtime, std::as_bytes(std::span(graph)).first(20), "torn.onnx", {});
    FAIL() << "half a graph was taken";
  } catch (const Error& error) {
    EXPECT_NE(error.failure().message.find("torn.onnx: ONNX Runtime: "), std::string::npos);
  }
}

}  // namespace
}  // namespace sabath
