#include "convert/proof.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "sabath/error.h"

namespace sabath {
namespace {

Proof example() {
  Proof proof;
  proof.key = sha256("key").prefixed();
  ProvenModel& model = proof.models.emplace_back();
  model.name = "encoder";
  model.file = "encoder.onnx";
  model.isolation = "seccomp";
  model.dummy = {sha256("x")};
  model.files = {{"encoder.onnx", sha256("graph")}};
  model.expected.input_names = {"x"};
  model.expected.precision = TensorType::float32;
  model.graph.emplace();
  model.judgement.verdict = ConversionVerdict::equal;
  JudgedOutput output;
  output.name = "y";
  output.tolerance = {1e-4, 1e-3};
  output.difference.max_abs = 2.5e-7;
  output.noise.max_abs = std::numeric_limits<double>::infinity();
  model.judgement.sets = {{"data", 32, "", {output}}};
  return proof;
}

TEST(ProofText, ComesBack) {
  const std::string text = text_of(example());
  EXPECT_EQ(nlohmann::json::parse(text).dump(), text);  // canonical
  const ReadProof read = parse_proof(text, "proof.json");
  EXPECT_EQ(read.verdict, "equal");
  EXPECT_EQ(read.isolation, "seccomp");
  ASSERT_EQ(read.models.size(), 1U);
  const ReadModel& model = read.models[0];
  EXPECT_EQ(model.file, "encoder.onnx");
  EXPECT_EQ(model.files.at("encoder.onnx"), sha256("graph"));
  EXPECT_EQ(model.expected.precision, TensorType::float32);
  EXPECT_EQ(model.tolerances.at("data").at("y"), (Tolerance{1e-4, 1e-3}));
  EXPECT_EQ(model.max_abs, 2.5e-7);
  EXPECT_EQ(model.noise, std::numeric_limits<double>::infinity());
}

TEST(ProofText, TheWorstVerdictIsThatOfAll) {
  Proof proof = example();
  proof.models.push_back(proof.models[0]);
  proof.models[1].judgement.verdict = ConversionVerdict::failed;
  EXPECT_EQ(proof.verdict(), ConversionVerdict::failed);
  proof.models[1].judgement.verdict = ConversionVerdict::stochastic;
  EXPECT_EQ(parse_proof(text_of(proof), "p").verdict, "stochastic");
}

TEST(ProofText, WhatIsNoneIsRefused) {
  auto json = nlohmann::json::parse(text_of(example()));
  json["models"][0]["files"] = {{"../outside", sha256("x").prefixed()}};
  auto other = nlohmann::json::parse(text_of(example()));
  other["models"][0]["name"] = "a/b";
  for (const std::string& text :
       {std::string("{}"), std::string("[1"), json.dump(), other.dump(), std::string(100, '[')}) {
    try {
      (void)parse_proof(text, "proof.json");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid) << text;
    }
  }
}

}  // namespace
}  // namespace sabath
