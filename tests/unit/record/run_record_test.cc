// run.json as one type: what is written is read back, and what others wrote is read as far as it goes.
#include "record/run_record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

// As `sabath run` writes it: two steps, the second of them ended by a signal.
constexpr const char* written = R"({"schema":1,"id":"2026-nano","started":1795252000.25,"finished":1795252040.0,
"state":"failed","mode":"train","command":["python3","train.py","--lr","0.1"],
"steps":[{"argv":["make"],"ranks":1,"exit":0,"signal":null,"seconds":0.5},
{"argv":["python3","train.py","--lr","0.1"],"ranks":4,"exit":137,"signal":9,"seconds":30.0}],
"launcher":"mpirun","ranks":4,"nodes":2,"recipe":{"name":"nano","version":null,"digest":"sha256:aa"},
"assets":[{"name":"universe","kind":"dataset","manifest":"sha256:bb","verified_by":"hashed before launch","path":"/x",
"warm":true}],"source":{"commit":"cc","origin":"https://git.lab/nano","manifest":null},
"trust":{"by":"commit","recipe_of":"own","origin":"https://git.lab/nano","commit":"cc","digest":"sha256:dd"},
"environment":{"packages":{"numpy":"1.24"},"variables":{}},"machine":{"cpu":"EPYC","memory_bytes":1099511627776},
"times":{"fetch":0.5,"stage":null,"verify":0.25,"launch":0.1,"train":30.0},"harness_cpu_seconds":0.75,
"config":{"batch":"4","lr":"0.1"},"exit":137,"signal":9,"last_lines":["Killed"],"unwritten_lines":3})";

RunRecord parse(const std::string& text) { return parse_run_record(text, "run.json"); }

FailureKind refusal(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const Error& error) {
    EXPECT_NE(error.failure().message.find("run.json"), std::string::npos);
    EXPECT_FALSE(error.failure().hint.empty()) << text;
    return error.failure().kind;
  }
  ADD_FAILURE() << "was read: " << text;
  return FailureKind::internal;
}

TEST(RunRecord, IsReadBackAsItWasWritten) {
  const std::string text = nlohmann::ordered_json::parse(written).dump(1);
  EXPECT_EQ(to_json(parse(text)).dump(1), text);
  const RunRecord record = parse(text);
  EXPECT_EQ(record.steps.at(1).signal, 9);
  EXPECT_EQ(record.nodes, 2);
  EXPECT_EQ(record.recipe->digest, "sha256:aa");
  EXPECT_EQ(record.assets->at(0).warm, true);
  EXPECT_EQ(record.config, (Facts{{"batch", "4"}, {"lr", "0.1"}}));
  EXPECT_EQ(facts_of(*record.machine), (Facts{{"cpu", "EPYC"}, {"memory_bytes", "1099511627776"}}));
}

TEST(RunRecord, AGraphsRunIsReadBackAsItWasWritten) {
  auto json = nlohmann::ordered_json::parse(written);
  json["assets"][0]["role"] = "from";
  json["inputs"] = {{{"name", "x"}, {"path", "/x.npy"}, {"sha256", "sha256:aa"}}};
  json["results"] = {{{"name", nullptr}, {"path", "work/result.npy"}, {"sha256", nullptr}}};
  const RunRecord record = parse(json.dump());
  EXPECT_EQ(to_json(record).dump(), json.dump());
  EXPECT_EQ(record.assets->at(0).role, "from");
  EXPECT_EQ(record.results.at(0).path, "work/result.npy");
  for (const char* const key : {"inputs", "results"}) json[key] = {1, nullptr, "x", {{"path", {}}}};
  EXPECT_EQ(parse(json.dump()).inputs.size(), 4U);
}

TEST(RunRecord, WhatAnotherProgramLeftOutIsNotKnown) {
  const RunRecord record = parse(R"({"id":"x","config":{"lr":0.1,"net":{"depth":3}},"mood":{"of":"all"}})");
  EXPECT_FALSE(record.started || record.finished || record.ranks || record.recipe || record.assets || record.source ||
               record.machine || record.environment || record.exit || record.times.train);
  EXPECT_TRUE(record.state.empty() && record.command.empty() && record.steps.empty());
  EXPECT_EQ(record.config, (Facts{{"lr", "0.1"}, {"net.depth", "3"}}));
  EXPECT_EQ(facts_of(*record.document).back(), (std::pair<std::string, std::string>("mood.of", "all")));
}

TEST(RunRecord, WhatIsOfAnotherTypeIsNotKnown) {
  const nlohmann::ordered_json good = nlohmann::ordered_json::parse(written);
  const std::vector<nlohmann::ordered_json> odd{nullptr, true, -1, 1e300, "text", {1, "a", nullptr}, {{"a", {1}}}};
  for (const auto& [key, value] : good.items()) {
    for (const auto& other : odd) {
      if (key == "schema" && other.is_number()) continue;
      nlohmann::ordered_json changed = good;
      changed[key] = other;
      const RunRecord record = parse(changed.dump());
      EXPECT_EQ(to_json(record).size(), good.size()) << changed.dump();
      if (key != "id") {
        EXPECT_EQ(record.id, "2026-nano");
      }
    }
  }
}

TEST(RunRecord, WhatIsNoRunIsRefused) {
  for (const char* const text : {"", "{", "[]", "7", "{}", R"({"schema":1,"name":"nano"})"})
    EXPECT_EQ(refusal(text), FailureKind::invalid) << text;
  for (const char* const schema : {"2", "0", "-1"}) {
    EXPECT_EQ(refusal(fmt::format(R"({{"schema":{},"id":"x"}})", schema)), FailureKind::invalid) << schema;
  }
}

TEST(RunRecord, OfADirectory) {
  const test::TempDir directory;
  EXPECT_FALSE(try_read_run_record(directory.path()));
  std::ofstream(directory.path() / "run.json") << written;
  EXPECT_EQ(try_read_run_record(directory.path())->state, "failed");
}

}  // namespace
}  // namespace sabath
