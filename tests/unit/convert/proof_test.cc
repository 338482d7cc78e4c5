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
  proof.request = R"({"absolute":null,"convert":[{"from":"sklearn","input_names":["x"],"name":"encoder","source":")" +
                  sha256("source").prefixed() + R"("}],"relative":null,"stochastic":""})";
  proof.key = sha256(proof.request).prefixed();
  ProvenModel& model = proof.models.emplace_back();
  model.name = "encoder";
  model.from = "sklearn";
  model.source_digest = sha256("source");
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
  output.difference.max_abs = 2.5e-7;
  output.noise.max_abs = std::numeric_limits<double>::infinity();
  model.judgement.sets = {{"data", 32, "", {output}}};
  const Tensor original{TensorType::float32, {0, 1}, {}};
  model.judgement.measures = {{"y", {{&original}, {0}, 1, TensorType::float32, {0, 1e-3}}, true}};
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
  EXPECT_EQ(model.tolerances.at("y"), (Tolerance{0, 1e-3}));
  EXPECT_TRUE(model.compared.contains({"data", "y"}));
  EXPECT_TRUE(model.noisy.contains("y"));
  EXPECT_EQ(sha256(read.request).prefixed(), read.key);
  EXPECT_TRUE(disagreements_of(read).empty());
  EXPECT_EQ(model.max_abs, 2.5e-7);
  EXPECT_EQ(model.noise, std::numeric_limits<double>::infinity());
}

TEST(ProofText, WhatWasNotRequestedIsNamed) {
  auto json = nlohmann::json::parse(text_of(example()));
  json["models"][0]["stated"]["absolute"] = 1e9;
  json["models"][0]["source"]["sha256"] = sha256("other").prefixed();
  EXPECT_EQ(disagreements_of(parse_proof(json.dump(), "p")),
            (std::vector<std::string>{"the source of encoder is not what was requested",
                                      "the stated tolerance of encoder is not what was requested"}));
}

TEST(ProofText, TheFirstSchemaIsStillRead) {
  auto json = nlohmann::json::parse(text_of(example()));
  json["schema"] = 1;
  json.erase("request");
  json["models"][0].erase("judged_by");
  json["models"][0]["comparison"][0]["outputs"][0]["tolerance"] = {{"absolute", 1e-4}, {"relative", 1e-3}};
  const ReadProof read = parse_proof(json.dump(), "p");
  EXPECT_EQ(read.schema, 1U);
  EXPECT_EQ(read.models.at(0).tolerances.at("y"), (Tolerance{1e-4, 1e-3}));
  EXPECT_EQ(read.models.at(0).max_abs, 2.5e-7);
}

TEST(ProofText, TheWorstVerdictIsThatOfAll) {
  Proof proof = example();
  proof.models.push_back(proof.models[0]);
  proof.models[1].judgement.verdict = ConversionVerdict::failed;
  EXPECT_EQ(proof.verdict(), ConversionVerdict::failed);
  proof.models[1].judgement.verdict = ConversionVerdict::stochastic;
  EXPECT_EQ(parse_proof(text_of(proof), "p").verdict, "stochastic");
  proof.models[1].judgement.verdict = ConversionVerdict::unjudged;
  EXPECT_EQ(parse_proof(text_of(proof), "p").verdict, "cannot be judged");
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
