#include "task/plan.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

std::string refusal(const std::string& text) {
  try {
    (void)plan_task(text, "t.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    return error.failure().message;
  }
  return "";
}

constexpr const char* conversion = R"(general_args:
  task: "conversion"
  tag: "collaboration"
  backend: ["pt", "tf"]
device_args:
  worker_num: 4
  device: "cpu"
  gpu_mapping_file: ''
  gpu_mapping_key: ''
model_args:
  model_name: ["encoder", "decoder"]
  model_file: ["/ckpt/encoder.ckpt", "/ckpt/decoder.ckpt"]
  onnx_version: 10
  dummy: ["x.npy", "a.npy, b.npy"]
out_args:
  export_file: ["encoder.onnx", "decoder.onnx"]
)";

TEST(TaskPlan, AConversion) {
  const TaskPlan plan = plan_task(conversion, "t.yaml");
  ASSERT_EQ(plan.convert.models.size(), 2U);
  EXPECT_EQ(plan.convert.models[0].model, "/ckpt/encoder.ckpt");
  EXPECT_EQ(plan.convert.models[0].from, "pytorch");
  EXPECT_EQ(plan.convert.models[1].from, "keras");
  EXPECT_EQ(plan.convert.models[1].dummy.size(), 2U);
  EXPECT_EQ(plan.convert.opset, 10U);
  EXPECT_EQ(plan.export_files.back(), "decoder.onnx");
}

TEST(TaskPlan, AnInferenceUnderBothSpellings) {
  const TaskPlan plan = plan_task(R"(general_args: {task: inference, backend: onnx}
task_args:
  model_name: [encoder, decoder]
  model_file: [encoder.onnx, decoder.onnx]
  input: input.txt
  work_dir: project_dir
out.args:
  export_file: out.txt
)",
                                  "t.yaml");
  EXPECT_EQ(plan.infer.models, (std::vector<std::string>{"project_dir/encoder.onnx", "project_dir/decoder.onnx"}));
  EXPECT_EQ(plan.infer.inputs.at(""), "project_dir/input.txt");
  EXPECT_EQ(plan.infer.output, "project_dir/out.txt");
}

TEST(TaskPlan, SearchAndLoad) {
  EXPECT_EQ(plan_task("general_args: {task: search}\nmodel_args: {query: resnet}\n", "t").words,
            std::vector<std::string>{"resnet"});
  EXPECT_EQ(plan_task("general_args: {task: load}\nmodel_args: {model_name: [a, b]}\n", "t").words,
            (std::vector<std::string>{"a", "b"}));
}

TEST(TaskPlan, WhatMeansNothingIsToldWithItsLine) {
  EXPECT_EQ(refusal("general_args:\n  task: conversion\n  backends: [pt]\n"),
            "t.yaml:3: unknown key \"general_args.backends\" (did you mean general_args.backend?)");
  // The papers' third group, with the reason and its line.
  EXPECT_EQ(refusal("general_args: {tag: mlcube,\n  task: container}\ndevice_args: {device: gpu}\n"
                    "task_args: {build_file: f, build_tag: image, volume: /app}\n"),
            "t.yaml:2: an image is made by programs of its own, which run what its build file says: that is not done "
            "here");
  EXPECT_EQ(refusal("general_args: {task: load}\ntask_args:\n  model_name: a\n  volume: /app\n"),
            "t.yaml:4: \"model_args.volume\" is of a container task");
  EXPECT_EQ(refusal("general_args:\n  task: fly\n"), "t.yaml:2: there is no task \"fly\"");
  EXPECT_EQ(refusal("general_args: {task: [a, b]}\n"), "t.yaml:1: \"general_args.task\" is one value, and no list");
  EXPECT_NE(
      refusal("general_args: {task: inference}\nmodel_args: {input: a}\ntask_args: {input: b}\n").find("appears twice"),
      std::string::npos);
  std::string text = conversion;
  text.replace(text.find("\"a.npy, b.npy\""), 14, "\"\"");
  EXPECT_EQ(refusal(text), "t.yaml:12: /ckpt/decoder.ckpt has no inputs: without any, nothing can be compared");
  text = conversion;
  text.replace(text.find("\"cpu\""), 5, "'gpu'");
  EXPECT_EQ(refusal(text), "t.yaml:7: models are run on \"cpu\", and not on \"gpu\"");
}

}  // namespace
}  // namespace sabath
