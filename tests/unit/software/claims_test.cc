#include "software/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <tuple>

#include "sabath/error.h"
#include "software/solve.h"

namespace sabath {
namespace {

using Texts = std::vector<std::string>;

// "x/1 after a/1 needs y/1 excludes z of f": a row.
Software row_of(const std::string& text) {
  Software one;
  Texts words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  one.module = words.at(0);
  std::tie(one.name, one.version) = parts_of_module(one.module);
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    if (words[i] == "after") one.chain.push_back(words[i + 1]);
    if (words[i] == "needs") one.needs.push_back(words[i + 1]);
    if (words[i] == "excludes") one.conflicts.push_back(words[i + 1]);
    if (words[i] == "of") one.family = words[i + 1];
    if (words[i] == "opens") one.opens_first = words[i + 1] == "first";
  }
  return one;
}

SoftwareSolution solved_of(const Texts& rows, const Texts& needs) {
  std::vector<Software> table;
  for (const std::string& one : rows) table.push_back(row_of(one));
  std::vector<SoftwareNeed> asked;
  for (const std::string& one : needs) asked.push_back(parse_software_need(one));
  return solve_needs(table, asked);
}

std::string modules_of(const Texts& rows, const Texts& needs) {
  return fmt::format("{}", fmt::join(solved_of(rows, needs).modules, " "));
}

TEST(WhatIsClaimed, ConflictsOfParentsAndOfWhatIsLoadedCount) {
  EXPECT_EQ(modules_of({"a/1 excludes c", "c/1", "d/1 after a/1"}, {"c", "d"}), "");
  EXPECT_EQ(modules_of({"hd/1 excludes q", "q/1", "p/1 needs hd"}, {"q", "p"}), "");
  EXPECT_EQ(modules_of({"x/1 needs h", "h/1", "y/1 excludes h"}, {"x", "y"}), "");
  EXPECT_EQ(modules_of({"compiler/gcc/12.3", "w/1 excludes compiler/gcc"}, {"gcc", "w"}), "");
  EXPECT_EQ(modules_of({"compiler/gcc/12.3", "w/1 excludes compiler/gcc/13"}, {"gcc", "w"}), "compiler/gcc/12.3 w/1");
}

TEST(WhatIsClaimed, NeedsToAnyDepth) {
  EXPECT_EQ(modules_of({"x/1 needs y/1", "y/1 needs z/1", "z/1"}, {"x"}), "z/1 y/1 x/1");
  EXPECT_EQ(modules_of({"x/1 needs ma", "y/1 needs mb", "ma/1 of mpi", "mb/1 of mpi"}, {"x", "y"}), "");
  EXPECT_EQ(modules_of({"x/1 needs m", "m/1", "m/2", "y/1 excludes m/2"}, {"x", "y"}), "m/1 x/1 y/1");
  EXPECT_EQ(modules_of({"x/1 needs m", "m/1", "m/2"}, {"x"}), "m/2 x/1");
  EXPECT_EQ(modules_of({"a/1 needs e/1 opens first", "e/1 after a/1"}, {"a"}), "a/1 e/1");
  Texts chain;
  for (int i = 0; i < 300; ++i) chain.push_back(fmt::format("n{}/1 needs n{}/1", i, i + 1));
  chain.emplace_back("n300/1");
  EXPECT_EQ(solved_of(chain, {"n0"}).modules.size(), 301U);
  for (int i = 300; i < 5000; ++i) chain.push_back(fmt::format("n{}/2 needs n{}/2", i, i + 1));
  chain.emplace_back("n5000/2");  // one chain that is longer than the bound
  EXPECT_TRUE(solved_of(chain, {"n300==2"}).modules.empty());
  EXPECT_EQ(solved_of(chain, {"n4000"}).modules.size(), 1001U);
}

// It is loaded while MODULEPATH has no directory of its own yet; Lmod and environment-modules both refuse it.
TEST(WhatIsClaimed, WhatIsThereOnlyAfterIt) {
  const SoftwareSolution never = solved_of({"a/1 needs e/1", "e/1 after a/1"}, {"a"});
  EXPECT_TRUE(never.modules.empty());
  EXPECT_EQ(never.against, Texts{"a/1 cannot be loaded: a/1 needs e/1, which is there only after it"});
  EXPECT_EQ(modules_of({"a/1 needs e/1", "e/1 after a/1", "e/1"}, {"a"}), "e/1 a/1");
  EXPECT_EQ(modules_of({"a/2 needs c", "c/2 needs d/3", "d/3 after a/2", "a/1"}, {"a"}), "a/1");
}

// Two rows of one module: after b/2 Lmod loads the c/3 that is behind it, and that one needs d/1.
TEST(WhatIsClaimed, AModuleThatIsReplacedByAnother) {
  const Texts rows{"b/1 of p", "b/2 of p", "c/3", "c/3 after b/2 needs d/1", "d/1 after b/1"};
  EXPECT_EQ(modules_of(rows, {"c", "b"}), "c/3 b/1");
  EXPECT_EQ(modules_of({"b/2", "c/3", "c/3 after b/2"}, {"c", "b"}), "c/3 b/2");  // it does as well
  EXPECT_EQ(modules_of({"b/2", "c/3", "c/3 after b/2 needs d/1", "d/1"}, {"c", "b"}), "b/2 d/1 c/3");
  const SoftwareSolution never = solved_of({"b/2", "c/3", "c/3 after b/2 needs d/1", "d/1 after e/1"}, {"c", "b"});
  EXPECT_TRUE(never.modules.empty());
  EXPECT_TRUE(never.is_whole);
}

TEST(WhatIsClaimed, RangesOfEnvironmentModules) {
  const Texts gcc{"gcc/9", "gcc/11.4", "gcc/12.3", "gcc/13.2"};
  const auto with = [&](const std::string& row) {
    Texts rows = gcc;
    rows.push_back(row);
    return modules_of(rows, {"x"});
  };
  for (const auto& [need, modules] : {std::pair{"gcc@12:", "gcc/13.2 x/1"},
                                      {"gcc@:12", "gcc/12.3 x/1"},
                                      {"gcc@11:12", "gcc/12.3 x/1"},
                                      {"gcc@12", "gcc/12.3 x/1"},
                                      {"gcc@:<=12", "gcc/11.4 x/1"},
                                      {"gcc@9,11.4", "gcc/11.4 x/1"},
                                      {"gcc@1", ""},
                                      {"gcc@14:", ""},
                                      {"gcc@", ""},
                                      {"gcc@:", "gcc/13.2 x/1"},
                                      {"gcc@,,:10", "gcc/9 x/1"}})
    EXPECT_EQ(with(std::string("x/1 needs ") + need), modules) << need;
  Texts rows = gcc;
  rows.push_back("x/1 excludes gcc@12:");
  EXPECT_EQ(modules_of(rows, {"x", "gcc"}), "x/1 gcc/11.4");
  EXPECT_THROW((void)parse_software_need("gcc@12:"), Error);
}

TEST(WhatIsClaimed, WhatIsNowhereIsNoSolution) {
  const SoftwareSolution gone = solved_of({"o/1 needs gone/9"}, {"o"});
  EXPECT_TRUE(gone.modules.empty());
  EXPECT_EQ(gone.against, Texts{"o/1 cannot be loaded: o/1 needs gone/9, which is nowhere"});
  EXPECT_EQ(modules_of({"o/1 needs gone"}, {"o"}), "");
  EXPECT_EQ(modules_of({"o/1 after gone/9"}, {"o"}), "");
  EXPECT_EQ(modules_of({"o/2 needs gone/9", "o/1"}, {"o"}), "o/1");
  EXPECT_EQ(modules_of({"o/1 needs zlib/.1.2"}, {"o"}), "o/1");  // hidden: no table names it
}

TEST(WhatIsClaimed, ARowThatContradictsItself) {
  EXPECT_EQ(modules_of({"m/1 of F", "x/1 of F after m/1"}, {"x"}), "");
  EXPECT_EQ(modules_of({"m/1", "x/1 needs m/1 excludes m"}, {"x"}), "");
  EXPECT_EQ(modules_of({"m/1 excludes x", "x/1 needs m/1"}, {"x"}), "");
  EXPECT_EQ(modules_of({"x/1 excludes x", "x/2"}, {"x==1"}), "x/1");
}

// Six needs that have nothing to do with three that share families: one set exists, with the oldest a0.
TEST(WhatIsClaimed, IndependentNeedsAreNotTriedInAllCombinations) {
  Texts rows, needs;
  for (int name = 0; name < 6; ++name) {
    for (int version = 0; version < 20; ++version)
      rows.push_back(fmt::format("a{}/{}{}", name, version, name == 0 && version > 0 ? " of H" : ""));
    needs.push_back(fmt::format("a{}", name));
  }
  for (const char* name : {"p", "q", "r"}) {
    for (const char* rest : {"3 of F", "2 of G", "1 of H"}) rows.push_back(fmt::format("{}/{}", name, rest));
    needs.emplace_back(name);
  }
  EXPECT_EQ(modules_of(rows, needs), "a0/0 a1/19 a2/19 a3/19 a4/19 a5/19 p/3 q/2 r/1");
}

TEST(WhatIsClaimed, ManyVersionsOfWhichNoneMeets) {
  Texts rows;
  for (int i = 0; i < 60'000; ++i) rows.push_back(fmt::format("a/{}", i));
  EXPECT_EQ(solved_of(rows, {"a>99999"}).nearest, Texts{"a/59999"});
}

// More families than needs fit in: what is left is too much to be tried, and it is not said that nothing fits.
TEST(WhatIsClaimed, TooManyCombinationsAreNotNothing) {
  Texts rows, needs;
  for (int name = 0; name < 20; ++name) {
    for (int family = 0; family < 19; ++family) rows.push_back(fmt::format("a{}/{} of f{}", name, family, family));
    needs.push_back(fmt::format("a{}", name));
  }
  const SoftwareSolution found = solved_of(rows, needs);
  EXPECT_TRUE(found.picks.empty());
  EXPECT_FALSE(found.is_whole);
}

}  // namespace
}  // namespace sabath
