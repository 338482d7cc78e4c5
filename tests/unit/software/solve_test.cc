#include "software/solve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>

#include "sabath/error.h"

namespace sabath {
namespace {

using Texts = std::vector<std::string>;

Software module_of(const std::string& module, Texts chain = {}, Texts features = {}, Texts needs = {}) {
  Software one;
  const auto slash = module.rfind('/');
  one.name = module.substr(0, slash);
  one.version = slash == std::string::npos ? "" : module.substr(slash + 1);
  one.module = module;
  one.chain = std::move(chain);
  one.features = std::move(features);
  one.needs = std::move(needs);
  one.known = "a table";
  return one;
}

Software of_family(Software one, const std::string& family) {
  one.family = family;
  return one;
}

Software excluding(Software one, Texts conflicts) {
  one.conflicts = std::move(conflicts);
  return one;
}

Software package_of(const std::string& name, const std::string& version, const std::string& program) {
  Software one;
  one.name = name;
  one.version = version;
  one.program = program;
  return one;
}

// Two compilers, two MPIs below them, CUDA beside them, packages below the MPIs.
const std::vector<Software>& cluster() {
  static const std::vector<Software> table = [] {
    const Texts gcc12{"gcc/12.3"}, gcc13{"gcc/13.2"};
    const Texts mpi4{"gcc/12.3", "openmpi/4.1.6"}, mpi5{"gcc/13.2", "openmpi/5.0.1"};
    std::vector<Software> all{
        of_family(module_of("gcc/12.3"), "compiler"),
        of_family(module_of("gcc/13.2"), "compiler"),
        of_family(module_of("intel/2023.1"), "compiler"),
        module_of("cuda/10.2"),
        module_of("cuda/11.8"),
        module_of("cuda/12.2"),
        module_of("cuda/13.0"),
        of_family(module_of("openmpi/4.1.6", gcc12, {"cuda", "ucx"}, {"cuda/12.2"}), "mpi"),
        of_family(module_of("openmpi/5.0.1", gcc13, {"ucx"}), "mpi"),
        of_family(module_of("mpich/4.1", gcc13), "mpi"),
        module_of("hdf5/1.14", mpi4),
        module_of("hdf5/1.14", mpi5),
        module_of("hdf5/1.12", mpi5),
        module_of("tensorflow/2.9", gcc12, {}, {"cuda/11.8"}),
        module_of("tensorflow/2.11", mpi4, {"cuda"}, {"cuda/12.2"}),
        module_of("fftw/3.3.10", gcc13),
        module_of("OpenBLAS/0.3.23-GCC-12.3.0", {}, {"gcc"}),
        excluding(module_of("anaconda/2023.09"), {"gcc"}),
        package_of("numpy", "1.24.2", "/usr/bin/python3"),
        package_of("torch", "2.1.0", "/usr/bin/python3"),
        package_of("jax", "0.4.1", "/opt/python/bin/python3"),
    };
    all[14].provides = {"keras/2.11", "numpy/1.23.0"};
    Software bare;  // Spack has it, and no module
    bare.name = "paraview";
    bare.version = "5.11";
    bare.known = "Spack's database";
    all.push_back(bare);
    return all;
  }();
  return table;
}

struct SolveCase {
  const char* name;
  Texts needs;
  const char* modules;  // "": nothing fits
  const char* against = "";
  const char* nearest = "";
  const char* also = "";
};

std::ostream& operator<<(std::ostream& out, const SolveCase& one) { return out << one.name; }

class Solve : public testing::TestWithParam<SolveCase> {};

TEST_P(Solve, AsTheTableSays) {
  const SolveCase& expected = GetParam();
  std::vector<SoftwareNeed> needs;
  for (const std::string& text : expected.needs) needs.push_back(parse_software_need(text));
  const SoftwareSolution found = solve_needs(cluster(), needs);
  EXPECT_EQ(fmt::format("{}", fmt::join(found.modules, " ")), expected.modules) << fmt::format("{}", found.against);
  EXPECT_EQ(fmt::format("{}", fmt::join(found.against, "; ")), expected.against);
  EXPECT_EQ(fmt::format("{}", fmt::join(found.nearest, " ")), expected.nearest);
  EXPECT_EQ(fmt::format("{}", fmt::join(found.also, " ")), expected.also);
  EXPECT_EQ(found.picks.empty(), !found.against.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Solve,
    testing::Values(
        SolveCase{"the newest", {"cuda"}, "cuda/13.0"}, SolveCase{"a range", {"cuda>=11,<13"}, "cuda/12.2"},
        SolveCase{"a range with an end", {"cuda<=11"}, "cuda/11.8"},
        SolveCase{"a version and those of it", {"cuda=12"}, "cuda/12.2"},
        SolveCase{"as recipes write it", {"cuda/11.8"}, "cuda/11.8"},
        SolveCase{"not that one", {"cuda!=13.0"}, "cuda/12.2"}, SolveCase{"exactly", {"cuda==10.2"}, "cuda/10.2"},
        SolveCase{"2.10 is newer than 2.9", {"tensorflow>=2.10"}, "gcc/12.3 cuda/12.2 openmpi/4.1.6 tensorflow/2.11"},
        SolveCase{"in any case of letters", {"TensorFlow>=2.10"}, "gcc/12.3 cuda/12.2 openmpi/4.1.6 tensorflow/2.11"},
        SolveCase{"a feature decides the version", {"openmpi+cuda"}, "gcc/12.3 cuda/12.2 openmpi/4.1.6"},
        SolveCase{"two features", {"openmpi>=4+cuda+ucx"}, "gcc/12.3 cuda/12.2 openmpi/4.1.6"},
        SolveCase{"down the hierarchy", {"openmpi"}, "gcc/13.2 openmpi/5.0.1"},
        SolveCase{"the first need decides", {"openmpi", "hdf5"}, "gcc/13.2 openmpi/5.0.1 hdf5/1.14"},
        SolveCase{"an older MPI, so that both fit",
                  {"openmpi", "tensorflow"},
                  "gcc/12.3 cuda/12.2 openmpi/4.1.6 tensorflow/2.11"},
        SolveCase{"of two answers the newer compiler",
                  {"hdf5>=1.14"},
                  "gcc/13.2 openmpi/5.0.1 hdf5/1.14",
                  "",
                  "",
                  "gcc/12.3 cuda/12.2 openmpi/4.1.6 hdf5/1.14"},
        SolveCase{"what a module brings with it", {"keras"}, "gcc/12.3 cuda/12.2 openmpi/4.1.6 tensorflow/2.11"},
        SolveCase{"a package needs no module", {"torch>=2"}, ""},
        SolveCase{"a toolchain behind the version", {"openblas==0.3.23+gcc"}, "OpenBLAS/0.3.23-GCC-12.3.0"},
        SolveCase{"no such name", {"tensorflwo"}, "", "no software is called tensorflwo: the nearest is tensorflow"},
        SolveCase{"too new",
                  {"cuda>=14"},
                  "",
                  "cuda is here as 13.0, 12.2, 11.8, 10.2, and none of them is >=14",
                  "cuda/13.0"},
        SolveCase{
            "too old", {"cuda<9"}, "", "cuda is here as 13.0, 12.2, 11.8, 10.2, and none of them is <9", "cuda/10.2"},
        SolveCase{"no such feature",
                  {"openmpi+rocm"},
                  "",
                  "openmpi is here as 5.0.1, 4.1.6, and none of them is known to have rocm",
                  "gcc/13.2 openmpi/5.0.1"},
        SolveCase{"two compilers",
                  {"fftw", "tensorflow"},
                  "",
                  "tensorflow/2.11 (after gcc/12.3, openmpi/4.1.6) does not go with fftw/3.3.10 (after gcc/13.2): "
                  "gcc/13.2 is in the way",
                  "gcc/13.2 fftw/3.3.10"},
        SolveCase{"two of a family",
                  {"mpich", "openmpi"},
                  "",
                  "openmpi/5.0.1 (after gcc/13.2) does not go with mpich/4.1 (after gcc/13.2): mpich/4.1 is in the way",
                  "gcc/13.2 mpich/4.1"},
        SolveCase{"what excludes the other",
                  {"anaconda", "fftw"},
                  "",
                  "fftw/3.3.10 (after gcc/13.2) does not go with anaconda/2023.09: gcc/13.2 is in the way",
                  "anaconda/2023.09"},
        SolveCase{
            "what a dependency loads counts", {"tensorflow", "cuda>=11,<12"}, "gcc/12.3 cuda/11.8 tensorflow/2.9"},
        SolveCase{"packages of two interpreters",
                  {"torch", "jax"},
                  "",
                  "jax 0.4.1 of /opt/python/bin/python3 does not go with torch 2.1.0 of /usr/bin/python3: "
                  "/usr/bin/python3 is in the way"},
        SolveCase{
            "no module has it", {"paraview"}, "", "no module has paraview: it is known from Spack's database only"}));

TEST(SolveMore, ANeedThatNoModuleAnswersIsAPick) {
  const std::vector<SoftwareNeed> needs{parse_software_need("torch>=2")};
  const SoftwareSolution found = solve_needs(cluster(), needs);
  ASSERT_EQ(found.picks.size(), 1U);
  EXPECT_EQ(cluster()[found.picks[0].row].program, "/usr/bin/python3");
}

TEST(SolveMore, TwentyThousandModulesAndNoWayThroughThem) {
  std::vector<Software> table;
  for (int name = 0; name < 20; ++name) {
    for (int i = 0; i < 1000; ++i)
      table.push_back(module_of(fmt::format("tool{}/1.{}", name, i), {fmt::format("base/{}", i * 20 + name)}));
  }
  for (int i = 0; i < 20'000; ++i) table.push_back(module_of(fmt::format("base/{}", i)));
  std::vector<SoftwareNeed> needs;
  for (int name = 0; name < 20; ++name) needs.push_back(parse_software_need(fmt::format("tool{}", name)));
  const SoftwareSolution none = solve_needs(table, needs);  // no two have a base in common
  EXPECT_TRUE(none.picks.empty());
  EXPECT_FALSE(none.against.empty());
  EXPECT_FALSE(none.nearest.empty());
  for (Software& one : table)
    if (!one.chain.empty()) one.chain = {"base/1"};
  EXPECT_EQ(solve_needs(table, needs).modules.size(), 21U);
}

// A pair of modules that exclude each other behind nineteen needs that do not matter.
TEST(SolveMore, CombinationsAreBounded) {
  std::vector<Software> table;
  for (int name = 0; name < 19; ++name) {
    for (int i = 0; i < 50; ++i) table.push_back(module_of(fmt::format("tool{}/1.{}", name, i)));
  }
  for (int i = 0; i < 40; ++i) {
    table.push_back(excluding(module_of(fmt::format("left/1.{}", i)), {"right"}));
    table.push_back(module_of(fmt::format("right/1.{}", i)));
  }
  std::vector<SoftwareNeed> needs;
  for (int name = 0; name < 19; ++name) needs.push_back(parse_software_need(fmt::format("tool{}", name)));
  needs.push_back(parse_software_need("left"));
  needs.push_back(parse_software_need("right"));
  const SoftwareSolution found = solve_needs(table, needs);
  EXPECT_TRUE(found.picks.empty());
  EXPECT_FALSE(found.against.empty());
}

TEST(SolveMore, ATableOfLoopsEnds) {
  std::vector<Software> table{module_of("a/1", {}, {}, {"b/1"}), module_of("b/1", {}, {}, {"a/1", "b/1"})};
  const std::vector<SoftwareNeed> needs{parse_software_need("a")};
  EXPECT_EQ(solve_needs(table, needs).modules, (Texts{"b/1", "a/1"}));
}

TEST(SolveMore, NeedsThatAreNone) {
  for (const char* text : {"", ">=1", "cuda>=", "cuda>1;rm", "a b", "-x", "$(x)", "cuda>=1<", "a/../b\n"})
    EXPECT_THROW((void)parse_software_need(text), Error) << text;
  EXPECT_THROW((void)parse_software_need(std::string(600, 'a')), Error);
  const SoftwareNeed need = parse_software_need(" gtk+ >= 3 , < 4 +x11");
  EXPECT_EQ(need.name, "gtk+");
  EXPECT_EQ(need.bounds.size(), 2U);
  EXPECT_EQ(need.features, Texts{"x11"});
}

}  // namespace
}  // namespace sabath
