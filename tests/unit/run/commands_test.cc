#include <gtest/gtest.h>

#include "base/process.h"
#include "recipe/parse.h"
#include "run/commands.h"
#include "sabath/error.h"

namespace sabath {
namespace {

Recipe model(const std::string& run, int schema = 1) {
  return parse_recipe(
      schema == 1 ? R"({"schema":1,"kind":"model","name":"m","run":)" + run + "}" : R"({"name":"m","run":)" + run + "}",
      "m.json", AssetKind::model);
}

Recipe dataset(const std::string& name, const std::string& ids) {
  std::string fragments;
  for (const char id : ids) {
    fragments += fragments.empty() ? "" : ",";
    fragments += std::string(R"({"id":")") + id + R"(","type":"file","urls":["https://a.example/)" + id + R"("]})";
  }
  return parse_recipe(R"({"schema":1,"kind":"dataset","name":")" + name + R"(","fragments":[)" + fragments + "]}",
                      "d.json", AssetKind::dataset);
}

Places places() {
  Places places;
  places.source = "/run dir/source";
  places.dataset = "/store/view";
  places.fragments = {{"main", {"/store/view/d/f.bin", "/store/view/d"}}};
  places.model_files = {{"weights", {"/store/net/w.pt", "/store/net"}}};
  places.config = {{"lr", "0.1"}, {"evil", "$(touch /tmp/x); `id` '\" \\ &"}};
  places.nodes = 2;
  places.ranks = 8;
  return places;
}

TEST(Commands, PlaceholdersAreArguments) {
  const Step step{{"a", "{source}/b", "{dataset}", "{dataset.main}", "--x={dataset.main.dir}", "{config.evil}",
                   "{ranks}", "{nodes}", "{{name}}", "{model.weights}", "{model.weights.dir}"}};
  const auto argv = expand({step}, places(), {"--more"}).front().argv;
  EXPECT_EQ(argv, (std::vector<std::string>{"a", "/run dir/source/b", "/store/view", "/store/view/d/f.bin",
                                            "--x=/store/view/d", "$(touch /tmp/x); `id` '\" \\ &", "8", "2", "{name}",
                                            "/store/net/w.pt", "/store/net", "--more"}));
  EXPECT_TRUE(uses_model_files({step}));
  EXPECT_FALSE(uses_model_files({{{"a", "{dataset.main}"}}}));
}

TEST(Commands, ValuesThatAShellWouldReadAreRefusedThere) {
  Places good = places();
  good.source = "/run/source";
  EXPECT_EQ(expand({{{"cd {source} && make lr={config.lr}"}, true}}, good, {}).front().argv,
            (std::vector<std::string>{"/bin/sh", "-c", "cd /run/source && make lr=0.1"}));
  for (const char* value : {"a b", "$(id)", "`id`", "a;b", "a|b",   "a&b", "a>b", "'", "\"",   "\\", "*",
                            "?",   "~x",    "#",    "!",   "{a,b}", "(",   "[a]", "",  "a\nb", "^x"}) {
    good.config["lr"] = value;
    EXPECT_THROW(static_cast<void>(expand({{{"echo '{config.lr}'"}, true}}, good, {})), Error) << value;
  }
  EXPECT_THROW(static_cast<void>(expand({{{"ls {source}"}, true}}, places(), {})), Error);  // has a space
  EXPECT_THROW(static_cast<void>(expand({{{"true"}, true}}, places(), {"--more"})), Error);
}

TEST(Commands, WhatIsNotThereIsSaid) {
  Places none;
  for (const char* word : {"{source}", "{dataset}", "{dataset.main}", "{model.main}", "{config.lr}"}) {
    EXPECT_THROW(static_cast<void>(expand({{{"a", word}}}, none, {})), Error) << word;
  }
}

TEST(Commands, SetsAreFoundByTheNameOfTheDataset) {
  const Recipe two = model(R"({"one":[{"argv":["1"]}],"Two":[{"argv":["2"]}]})");
  EXPECT_EQ(choose_set(two, two.run, dataset("two", "a"), "").first, "Two");
  EXPECT_EQ(choose_set(two, two.run, dataset("other", "a"), "one").first, "one");
  EXPECT_THROW(static_cast<void>(choose_set(two, two.run, dataset("three", "a"), "")), Error);
  const Recipe one = model(R"({"one":[{"argv":["1"]}]})");  // never "the first"
  EXPECT_THROW(static_cast<void>(choose_set(one, one.run, dataset("three", "a"), "")), Error);
}

TEST(Commands, SetsOfTheOriginalHaveOtherKeys) {
  const Recipe any = model(R"({"whatever":["true"]})", 0);
  EXPECT_EQ(choose_set(any, any.run, dataset("three", "a"), "").first, "whatever");
  const Recipe parts = model(R"({"a":["true"],"b":["false"]})", 0);
  EXPECT_EQ(choose_set(parts, parts.run, dataset("three", "b"), "").first, "b");
  EXPECT_THROW(static_cast<void>(choose_set(parts, parts.run, dataset("three", "ab"), "")), Error);
}

TEST(Commands, ShellLinesMeanWhatTheySay) {
  const std::vector<std::string> argv{"printf", "%s\\n", "",  "a b",     "it's", "$(id)",
                                      "`id`",   "\\",    "*", "ünïcode", "a=b"};
  Command command;
  command.argv = {"/bin/sh", "-c", shell_line(argv)};
  const CommandResult result = run_command(command, {});
  EXPECT_EQ(result.out, "\na b\nit's\n$(id)\n`id`\n\\\n*\nünïcode\na=b\n");
}

TEST(Commands, ShellLinesHideNothing) {
  const std::vector<std::string> argv{"printf", "%s", "a\x1b[2J \u202e'b'\\\t\n\u00e9"};
  const std::string line = shell_line(argv);
  EXPECT_EQ(line.find_first_of("\x1b\xe2\n"), std::string::npos);
  Command command;
  command.argv = {"/bin/bash", "-c", line};
  EXPECT_EQ(run_command(command, {}).out, argv.back());
}

}  // namespace
}  // namespace sabath
