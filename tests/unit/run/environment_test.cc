#include <gtest/gtest.h>

#include <fstream>

#include "run/environment.h"
#include "sabath/environment.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

TEST(Environment, VariablesOfTheCallerAreExpandedAndNothingElse) {
  const VariableMap caller{{"CUDA_HOME", "/opt/cuda"}, {"A", "$B"}};
  EXPECT_EQ(expand_variables("$CUDA_HOME/include:${CUDA_HOME}x", caller), "/opt/cuda/include:/opt/cudax");
  EXPECT_EQ(expand_variables("$A", caller), "$B");
  EXPECT_EQ(expand_variables("$(id) `id` $ ${ ${x $1 \\$A", caller), "$(id) `id` $ ${ ${x $1 \\$B");
  EXPECT_EQ(expand_variables("$NONE-", caller), "-");
}

TEST(Environment, WhatExpandsToNothingIsLeftOut) {
  VariableMap environment{{"HOME", "/h"}};
  add_recipe_variables(environment, {{"CC", "mpicc"}, {"CUDA", "$CUDA_HOME"}, {"EMPTY", ""}, {"HOME", "$HOME/x"}});
  EXPECT_EQ(environment, (VariableMap{{"HOME", "/h/x"}, {"CC", "mpicc"}, {"EMPTY", ""}}));
}

// A module command as sites have it: a shell function that changes the environment.
TEST(Environment, ModulesAreLoadedByTheSitesScript) {
  const test::TempDir directory;
  std::ofstream(directory / "init") << "module() { [ \"$2\" = missing ] && { echo no such module >&2; return 1; }\n"
                                       "  export LOADED=\"$LOADED<$2>\" CUDA_HOME=/opt/cuda; }\n";
  Site site;
  site.name = "s";
  site.module_script = (directory / "init").string();
  const VariableMap before{{"PATH", "/usr/bin:/bin"}, {"LINES", "two\nlines"}};
  const std::string hostile = "x; touch " + (directory / "evil").string();
  const VariableMap after = load_modules(site, {"gcc/12", hostile}, before, {});
  EXPECT_EQ(after.at("LOADED"), "<gcc/12><" + hostile + ">");
  EXPECT_EQ(after.at("CUDA_HOME"), "/opt/cuda");
  EXPECT_EQ(after.at("LINES"), "two\nlines");
  EXPECT_FALSE(std::filesystem::exists(directory / "evil"));
  EXPECT_THROW(static_cast<void>(load_modules(site, {"missing"}, before, {})), Error);
  site.module_script.clear();
  EXPECT_THROW(static_cast<void>(load_modules(site, {"gcc/12"}, before, {})), Error);
  EXPECT_EQ(load_modules(site, {}, before, {}), before);
}

}  // namespace
}  // namespace sabath
