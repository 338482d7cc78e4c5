#include "sabath/verbs/sample.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ask.h"
#include "site.h"
#include "support/process.h"

namespace sabath::test {
namespace {

class Sampling : public ::testing::Test {
 protected:
  // A program that ends once the samples have begun; it writes down its own number.
  [[nodiscard]] std::vector<std::string> program(const std::string& directory) const {
    const std::string script = "echo $$ > \"$1.pid\"; while [ ! -s \"$1/here.jsonl\" ]; do sleep 0.05; done";
    return {"/bin/sh", "-c", script, "sh", site / directory};
  }
  [[nodiscard]] std::uint64_t number_of(const std::string& directory) const {
    std::uint64_t number = 0;
    EXPECT_TRUE(wait_until([&] { return static_cast<bool>(std::ifstream(site / (directory + ".pid")) >> number); }));
    return number;
  }

  Site site;
  Session session = site.open();
  NoEvents unheard;
};

TEST_F(Sampling, LastsAsLongAsTheProgram) {
  ChildProcess child(program("a"), site / "log");
  const SampleRecord record =
      sample_node(session, {.directory = site / "a", .process = number_of("a"), .node = "here"}, unheard);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(record.file, site / "a/here.jsonl");
  EXPECT_GE(record.samples, 1U);
  std::ifstream lines(record.file);
  std::uint64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_EQ(Site::Json::parse(line)["node"], "here");
  EXPECT_EQ(count, record.samples);

  ChildProcess second(program("b"), site / "log");
  const auto told =
      Site::Json::parse(ask(session, "sample", {{"to", site / "b"}, {"process", number_of("b")}, {"node", "here"}}));
  EXPECT_EQ(told["file"], (site / "b/here.jsonl").string());
  EXPECT_GE(told["samples"], 1);
}

TEST_F(Sampling, OfWhatHasEndedIsNone) {
  ChildProcess child({"/bin/sh", "-c", "echo $$ > \"$1.pid\"", "sh", site / "c"}, site / "log");
  const std::uint64_t ended = number_of("c");
  EXPECT_EQ(child.wait(), 0);
  const SampleRecord record = sample_node(session, {.directory = site / "c", .process = ended, .node = "a/b"}, unheard);
  EXPECT_EQ(record.file, site / "c/a_b.jsonl");
  EXPECT_EQ(record.samples, 0U);
  EXPECT_EQ(ask(session, "sample", {{"to", site / "c"}, {"process", ended}, {"node", "a/b"}}), to_json(record));
}

TEST_F(Sampling, RefusesWhatMakesNoSense) {
  const Site::Json all[] = {{{"to", site / "d"}},
                            {{"process", 1}},
                            {{"to", ""}, {"process", 1}},
                            {{"to", site / "d"}, {"process", -1}},
                            {{"to", site / "d"}, {"process", 1ULL << 40U}}};
  for (const Site::Json& wrong : all) EXPECT_EQ(refusal(session, "sample", wrong).kind, FailureKind::usage) << wrong;
}

}  // namespace
}  // namespace sabath::test
