// Exporters by their names and endings, and what they write of hostile, empty and unfinished runs.
#include "report/exporter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "runs.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class Written final : public ExportSink {
 public:
  void write(std::string_view more) override { text.append(more); }
  void say(std::string_view line) override { said.emplace_back(line); }
  [[nodiscard]] fs::path file() const override { return {}; }

  std::string text;
  std::vector<std::string> said;
};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

Written written(std::string_view format, const std::vector<sabath::Run>& runs, const ExportOptions& options = {}) {
  Written sink;
  exporter_named(format).write(runs, options, sink);
  return sink;
}

// A run's directory: a record, and metrics of two ranks, one with a name that would climb.
class Directory {
 public:
  Directory() {
    record("failed");
    std::ofstream(path() / "metrics.jsonl")
        << R"({"time":1795252001.5,"epoch":1,"step":null,"rank":0,"name":"loss","value":0.5})"
        << "\n"
        << R"({"time":1795252002.5,"epoch":2,"step":null,"rank":0,"name":"loss","value":"NaN"})"
        << "\n"
        << R"({"time":1795252002.5,"epoch":2,"step":null,"rank":1,"name":"loss","value":"-Infinity"})"
        << "\n"
        << R"({"time":1795252003.0,"epoch":null,"step":7,"rank":0,"name":"../lr","value":0.1})"
        << "\n";
  }

  void record(std::string_view state) const {
    std::ofstream(path() / "run.json") << fmt::format(
        R"({{"schema":1,"id":"r1","started":10.5,"finished":{},"state":"{}","mode":"train","command":["x"],
        "recipe":{{"name":"nano","version":null,"digest":"sha256:aa"}},"config":{{"lr":"0.1","a/b":"<&>"}},
        "source":{{"commit":"cc","origin":null,"manifest":null}}}})",
        state == "running" ? "null" : "12.25", state);
  }
  [[nodiscard]] fs::path path() const { return directory_.path(); }
  [[nodiscard]] Run run() const { return load_run(path(), {}); }

 private:
  test::TempDir directory_;
};

TEST(Exporters, AreFoundByNameAndEnding) {
  std::set<std::string_view> names, endings;
  for (const Exporter* const one : exporters()) {
    EXPECT_TRUE(names.insert(one->name).second) << one->name;
    EXPECT_EQ(&exporter_named(one->name), one);
    for (const std::string_view ending : one->endings) {
      if (ending.empty()) continue;
      EXPECT_TRUE(endings.insert(ending).second) << ending;
      EXPECT_EQ(&exporter_for("some/where.d/a" + std::string(ending)), one);
    }
  }
  for (const char* const other : {"", "a", ".svg", "a.svg/b", "-"}) {
    EXPECT_EQ(exporter_for(other).name, "text") << other;
  }
  try {
    (void)exporter_for("figure.pdf");
    ADD_FAILURE() << "no exporter writes that";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
    EXPECT_NE(error.failure().hint.find("svg, png, html"), std::string::npos) << error.failure().hint;
  }
  try {
    (void)exporter_named(
        "p\x1b"
        "df");
    ADD_FAILURE() << "there is no such format";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
    EXPECT_EQ(error.failure().message, "no report is written as p\\x1bdf");
    EXPECT_NE(error.failure().hint.find("text, svg, png, html"), std::string::npos);
  }
}

TEST(Exporters, NoTextLetsANameOut) {
  sabath::Run run = test::run_of({test::series("<script>alert(1)</script>\x1b[31m", {1, 2})});
  run.label = "</title><img src=x onerror=alert(1)>\x1b]0;x\x07";
  for (const char* const format : {"text", "html", "svg"}) {
    const std::string text = written(format, {run}).text;
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << format;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << format;
    if (std::string_view(format) == "text") continue;
    EXPECT_EQ(text.find("<script"), std::string::npos) << format;
    EXPECT_EQ(text.find("<img"), std::string::npos) << format;
    EXPECT_NE(text.find("&lt;script&gt;"), std::string::npos) << format;
  }
}

TEST(Exporters, RunsWithoutMetricsAreWrittenToo) {
  const test::TempDir directory;
  std::ofstream(directory.path() / "log") << "nothing to read here\n";
  const sabath::Run run = load_run(directory.path() / "log", {});
  EXPECT_EQ(written("csv", {run}).text, "time,epoch,step,rank,name,value\n");
  EXPECT_NE(written("svg", {run}).text.find("no metric"), std::string::npos);
  EXPECT_NE(written("html", {run}).text.find("</html>"), std::string::npos);
  const auto document = nlohmann::json::parse(written("json", {run}).text);
  EXPECT_TRUE(document.is_object());
}

TEST(Exporters, CsvNamesTheRunOfSeveral) {
  const Directory directory;
  sabath::Run one = directory.run(), other = one;
  other.label = "a \"b\", c";
  const std::string rows =
      "1795252001.5,1,,0,loss,0.5\n1795252002.5,2,,0,loss,NaN\n"
      "1795252002.5,2,,1,loss,-Infinity\n1795252003,,7,0,../lr,0.1\n";
  EXPECT_EQ(written("csv", {one}).text, "time,epoch,step,rank,name,value\n" + rows);
  const std::string both = written("csv", {one, other}).text;
  EXPECT_TRUE(both.starts_with("run,time,epoch,step,rank,name,value\n"));
  EXPECT_NE(both.find("\n\"a \"\"b\"\", c\",1795252003,,7,0,../lr,0.1\n"), std::string::npos) << both;
}

// The id is the start of the SHA-256 of "sabath run r110.5", by another program.
TEST(MlflowStore, HasEveryMetricUnderASafeName) {
  const Directory directory;
  const test::TempDir target;
  const Written sink =
      written("mlflow", {directory.run()}, {.metrics = {}, .reader = {}, .directory = target.path() / "ml"});
  const std::string id = "f8cc8aeaa27a399b6c6fb007cf55cc13";
  EXPECT_EQ(sink.said, std::vector<std::string>{"mlflow run " + id});
  EXPECT_EQ(sink.text, "");
  const fs::path run = target.path() / "ml/0" / id;
  EXPECT_EQ(names_in(run / "metrics"), (std::set<std::string>{"_.._lr", "loss", "loss rank 1"}));
  EXPECT_EQ(read(run / "metrics/loss"), "1795252001500 0.5 1\n1795252002500 nan 2\n");
  EXPECT_EQ(read(run / "metrics/loss rank 1"), "1795252002500 -inf 2\n");
  EXPECT_EQ(read(run / "metrics/_.._lr"), "1795252003000 0.1 7\n");
  EXPECT_EQ(read(run / "params/lr"), "0.1");
  EXPECT_EQ(read(run / "params/a_b"), "<&>");
  EXPECT_EQ(read(run / "tags/mlflow.source.git.commit"), "cc");
  EXPECT_EQ(read(run / "tags/sabath.recipe"), "nano");
  const std::string meta = read(run / "meta.yaml");
  for (const char* const line :
       {"start_time: 10500\n", "end_time: 12250\n", "status: 4\n", "lifecycle_stage: active\n"}) {
    EXPECT_NE(meta.find(line), std::string::npos) << line << meta;
  }
  EXPECT_NE(read(target.path() / "ml/0/meta.yaml").find("name: Default\n"), std::string::npos);
}

TEST(MlflowStore, AnExportReplacesTheSameRun) {
  const Directory directory;
  const test::TempDir target;
  const ExportOptions options{.metrics = {}, .reader = {}, .directory = target.path()};
  directory.record("running");
  const std::string said = written("mlflow", {directory.run()}, options).said.at(0);
  const fs::path run = target.path() / "0" / said.substr(said.rfind(' ') + 1);
  const std::string meta = read(run / "meta.yaml");
  EXPECT_NE(meta.find("end_time: null\n"), std::string::npos);
  EXPECT_NE(meta.find("status: 1\n"), std::string::npos);
  std::ofstream(run / "metrics/stale") << "1 1 1\n";
  directory.record("finished");
  EXPECT_EQ(written("mlflow", {directory.run()}, options).said.at(0), said);
  EXPECT_FALSE(fs::exists(run / "metrics/stale"));
  EXPECT_EQ(read(run / "metrics/loss"), "1795252001500 0.5 1\n1795252002500 nan 2\n");  // once, not appended
  EXPECT_NE(read(run / "meta.yaml").find("status: 3\n"), std::string::npos);
  EXPECT_EQ(names_in(target.path() / "0").size(), 2U);
}

}  // namespace
}  // namespace sabath
