#include "software/locked_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sabath/error.h"
#include "software/module_tree.h"

namespace sabath {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> needs_text(const std::vector<std::string>& modules) {
  std::vector<std::string> all;
  for (const SoftwareNeed& need : needs_of_lock(modules, "run.json")) all.push_back(need.text);
  return all;
}

std::vector<Software> rows_for(const std::vector<std::string>& modules) {
  std::vector<Software> table;
  for (const std::string& module : modules) table.push_back(software_of_module(module, {}));
  return table;
}

SoftwareSolution locked(const std::vector<Software>& table, const std::vector<std::string>& modules) {
  return solve_lock(table, needs_of_lock(modules, "run.json"));
}

TEST(LockedModules, EachModuleIsANeedOfItsVersion) {
  EXPECT_THAT(needs_text({"cuda/12.2", "compiler/gcc/12.3", "site", "cuda/12.2"}),
              ElementsAre("cuda==12.2", "gcc==12.3", "site"));
  EXPECT_THAT(needs_text({"a+b/1.2+cuda"}), ElementsAre("a+b==1.2+cuda")) << "a '+' of a module begins no feature";
  EXPECT_THAT(needs_text({}), IsEmpty());
}

TEST(LockedModules, WhatIsNoModuleIsRefused) {
  const std::vector<std::vector<std::string>> none{
      {""},     {"-f"},   {"a b"},          {"a\n/1"},        {"a/1/"},
      {"/gcc"}, {"\xff"}, {"gcc/\u202e12"}, {"g\u200bcc/12"}, std::vector<std::string>(257, "a")};
  for (const auto& modules : none) {
    try {
      (void)needs_of_lock(modules, "run.json");
      ADD_FAILURE() << modules.front();
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid);
      EXPECT_THAT(error.failure().message, HasSubstr("run.json"));
      EXPECT_FALSE(error.failure().hint.empty());
    }
  }
}

TEST(LockedModules, AVersionIsTheSameOrRefused) {
  const auto table = rows_for({"gcc/12.3.0", "gcc/12.4", "cuda/12.2"});
  EXPECT_THAT(locked(table, {"gcc/12.3", "cuda/12.2"}).modules, ElementsAre("gcc/12.3.0", "cuda/12.2"));
  const SoftwareSolution none = locked(table, {"cuda/12.2", "gcc/12"});
  EXPECT_THAT(none.picks, IsEmpty());
  EXPECT_THAT(none.against, ElementsAre(HasSubstr("none of them is ==12")));
  EXPECT_THAT(none.nearest, ElementsAre("cuda/12.2", "gcc/12.3.0"));
}

TEST(LockedModules, PicksAreRowsOfTheWholeTable) {
  auto table = rows_for({"gcc/13.1", "gcc/12.3"});
  table.front().module.clear();
  const SoftwareSolution found = locked(table, {"gcc/12.3"});
  ASSERT_EQ(found.picks.size(), 1U);
  EXPECT_EQ(found.picks.front().row, 1U);
}

TEST(LockedModules, APackageWithoutAModuleIsNotLoaded) {
  Software numpy;
  numpy.name = "numpy";
  numpy.version = "1.24";
  numpy.program = "/usr/bin/python3";
  EXPECT_THAT(locked({numpy, software_of_module("gcc/12.3", {})}, {"numpy/1.24"}).picks, IsEmpty());
}

TEST(LockedModules, AnotherBuildIsNotTheSame) {
  const auto table = rows_for({"OpenMPI/4.1.4-intel-2022a", "OpenMPI/4.1.5"});
  const SoftwareSolution none = locked(table, {"OpenMPI/4.1.4-GCC-11.3.0"});
  EXPECT_THAT(none.picks, IsEmpty());
  EXPECT_THAT(none.modules, IsEmpty());
  EXPECT_THAT(none.against, ElementsAre(HasSubstr("another build, OpenMPI/4.1.4-intel-2022a")));
  EXPECT_THAT(none.nearest, ElementsAre("OpenMPI/4.1.4-intel-2022a"));
  EXPECT_THAT(locked(table, {"OpenMPI/4.1.4"}).modules, ElementsAre("OpenMPI/4.1.4-intel-2022a"));
  EXPECT_THAT(locked(table, {"OpenMPI/4.1.5-GCC-12.3.0"}).modules, ElementsAre("OpenMPI/4.1.5"));
}

}  // namespace
}  // namespace sabath
