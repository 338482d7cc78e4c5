#include "software/module_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class ModuleTrees : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((top / name).parent_path());
    std::ofstream(top / name) << text;
  }
  [[nodiscard]] std::string adds(const std::string& directory) const {
    return fmt::format("prepend_path(\"MODULEPATH\", \"{}\")\n", (top / directory).string());
  }
  [[nodiscard]] ModuleTree read(const Texts& directories, const ModuleTreeBounds& bounds = {}) const {
    Texts path;
    for (const std::string& one : directories) path.push_back((top / one).string());
    return read_module_tree(path, TrustedOwners(), {}, bounds);
  }
  static Texts rows(const ModuleTree& tree) {
    Texts all;
    for (const Software& one : tree.software)
      all.push_back(fmt::format("{}{}", fmt::join(one.chain, ">"), (one.chain.empty() ? "" : ">") + one.module));
    std::ranges::sort(all);
    return all;
  }

  test::TempDir scratch;
  fs::path top = scratch.path();
};

TEST_F(ModuleTrees, CompilerMpiPackage) {
  put("Core/gcc/12.3.lua", adds("gcc12"));
  put("Core/gcc/13.2.lua", adds("gcc13"));
  put("Core/bare", "#%Module\n");
  put("Core/.modulerc.lua", "");
  put("Core/gcc/README", "no module");
  put("gcc12/openmpi/4.1.6-CUDA-12.2.lua", "depends_on(\"cuda/12.2\")\n" + adds("mpi"));
  put("gcc13/openmpi/5.0.1.lua", adds("mpi"));
  put("mpi/hdf5/1.14", "#%Module\n");
  const ModuleTree tree = read({"Core"});
  EXPECT_EQ(rows(tree),
            (Texts{"bare", "gcc/12.3", "gcc/12.3>openmpi/4.1.6-CUDA-12.2", "gcc/12.3>openmpi/4.1.6-CUDA-12.2>hdf5/1.14",
                   "gcc/13.2", "gcc/13.2>openmpi/5.0.1", "gcc/13.2>openmpi/5.0.1>hdf5/1.14"}));
  EXPECT_TRUE(tree.whole);
  EXPECT_EQ(tree.directories.size(), 4U);
  const auto mpi = std::ranges::find(tree.software, "openmpi/4.1.6-CUDA-12.2", &Software::module);
  EXPECT_EQ(mpi->name, "openmpi");
  EXPECT_EQ(mpi->version, "4.1.6-CUDA-12.2");
  EXPECT_EQ(mpi->features, Texts{"cuda"});
}

TEST_F(ModuleTrees, LoopsEnd) {
  put("a/one/1.lua", adds("a") + adds("b"));
  put("b/two/1.lua", adds("a") + adds("b"));
  EXPECT_EQ(rows(read({"a"})), (Texts{"one/1", "one/1>two/1"}));
  fs::create_directory_symlink(top / "a", top / "a/one/again");
  EXPECT_LE(read({"a"}).software.size(), 16U);
}

TEST_F(ModuleTrees, ItEndsAtItsBounds) {
  for (int i = 0; i < 50; ++i) put(fmt::format("flat/tool/1.{}.lua", i), "");
  const ModuleTree tree = read({"flat"}, {.files = 20});
  EXPECT_FALSE(tree.whole);
  EXPECT_LE(tree.software.size(), 20U);
  for (int i = 0; i < 30; ++i) put(fmt::format("deep{}/level/{}.lua", i, i), adds(fmt::format("deep{}", i + 1)));
  const ModuleTree deep = read({"deep0"});
  EXPECT_FALSE(deep.whole);
  EXPECT_EQ(deep.software.size(), 7U);
}

// A module system is not asked where a run of a modulefile could lead to what no text says.
TEST_F(ModuleTrees, WhatARunCouldAdd) {
  for (const char* text :
       {"prepend_path{\"MODULEPATH\", os.getenv(\"X\")}",
        "prepend_path(\"MODULEPATH\", pathJoin(os.getenv(\"X\") or \"/a\", \"b\"))",
        "for _, d in ipairs{\"/a\"} do prepend_path(\"MODULEPATH\", d) end",
        "local p = prepend_path\np(\"MODULEPATH\", \"/a\")", "prepend_path(\"MODULEPATH\", [[/a]])",
        "prepend_path([[MODULEPATH]], \"/a\")", "setenv(\"MODULEPATH\", \"/a\")",
        "local d = \"/a\"\nif x then d = \"/b\" end\nprepend_path(\"MODULEPATH\", d)", "dofile(\"/a\")",
        "local f = io.popen(\"x\")", "local d = \"/a\":gsub(\"a\", \"b\")\nprepend_path(\"MODULEPATH\", d)",
        "prepend_path(\"MODULEPATH\", \"/a\\47b\")", "local a, d = \"/a\", \"/b\"\nprepend_path(\"MODULEPATH\", d)",
        "prepend_path(\"MODULEPATH\", \"~/x\")"}) {
    put("lua/tool/1.lua", text);
    EXPECT_NE(read({"lua"}).unsure, "") << text;
  }
  for (const char* text : {"foreach d {/a /b} {module use $d}", "foreach d {/a /b} {\nmodule use $d\n}", "source /a/b",
                           "if {1} { module use /a }", "set d /a; module use $d", "module use [exec pwd]", "$x use /a",
                           "set d /a\nif {1} {set d /b}\nmodule use $d", "prepend-path MODULEPATH $env(X)",
                           "setenv MODULEPATH /a", "module use /a\\x62"}) {
    put("tcl/tool/1", std::string("#%Module\n") + text + "\n");
    EXPECT_NE(read({"tcl"}).unsure, "") << text;
  }
  const std::string here = top.string();
  fs::create_directories(top / "lib");
  fs::create_directories(top / "bin");
  put("good/tool/1.lua", fmt::format("help([[it changes MODULEPATH]])\nlocal d = \"{0}\"\n"
                                     "prepend_path{{\"MODULEPATH\", d .. \"/lib:{0}/bin\"}}\n"
                                     "prepend_path(\"PATH\", os.getenv(\"X\"))\nfor i = 1, 2 do whatis(\"x\") end\n",
                                     here));
  put("good/tool/2", fmt::format("#%Module\nproc ModulesHelp {{ }} {{\nputs stderr {{use it}}\n}}\n"
                                 "set place {}\nmodule use $place/lib\nset-alias a b\n",
                                 here));
  const ModuleTree good = read({"good"});
  EXPECT_EQ(good.unsure, "");
  EXPECT_EQ(good.directories, (Texts{here + "/good", here + "/lib", here + "/bin"}));
}

TEST_F(ModuleTrees, WhatARunCouldReach) {
  const auto unsure = [&](const std::string& name) { return read({name}).unsure; };
  put("names/a b/1.lua", "prepend_path(\"MODULEPATH\", \"/usr\")");
  EXPECT_NE(unsure("names"), "");
  put("deep/1/2/3/4/5/6.lua", "");
  EXPECT_NE(unsure("deep"), "");
  put("dots/.modulerc", "#%Module\nsource /a\n");
  EXPECT_NE(unsure("dots"), "");
  put("virtual/.modulerc", "#%Module\nmodule-virtual x/1 /nowhere/at/all\n");
  EXPECT_NE(unsure("virtual"), "");
  put("plain/tool/1.lua", "");
  put("plain/.version", "#%Module\nset ModulesVersion 1\n");
  EXPECT_EQ(unsure("plain"), "");
  fs::create_directory_symlink("/nowhere/at/all", top / "plain/gone");
  EXPECT_NE(unsure("plain"), "");
  fs::remove(top / "plain/gone");
  fs::create_directories(top / "plain/.hidden");
  fs::permissions(top / "plain/.hidden", fs::perms::all);
  EXPECT_NE(unsure("plain"), "");
  fs::remove(top / "plain/.hidden");
  put("plain/tool/README", "");
  fs::permissions(top / "plain/tool/README", fs::perms::all);
  EXPECT_EQ(read({"plain"}).passed_over.size(), 1U);
  fs::create_directories(top / "open");
  fs::permissions(top / "open", fs::perms::all);
  put("later/tool/1.lua", adds("open/later"));
  EXPECT_NE(unsure("later"), "");
}

TEST_F(ModuleTrees, WhatOthersCanWriteIsNamedAndNotRead) {
  put("open/tool/1.lua", "");
  put("Core/gcc/12.3.lua", adds("open"));
  put("Core/shared/1.lua", adds("gone"));
  fs::permissions(top / "open", fs::perms::all);
  fs::permissions(top / "Core/shared/1.lua", fs::perms::all);
  const ModuleTree tree = read({"Core"});
  EXPECT_EQ(rows(tree), Texts{"gcc/12.3"});
  ASSERT_EQ(tree.passed_over.size(), 2U);
  EXPECT_EQ(tree.passed_over[0].what, (top / "Core/shared/1.lua").string());
  EXPECT_EQ(tree.passed_over[0].why, "others may write it (mode 777)");
  EXPECT_EQ(tree.passed_over[1].what, (top / "open").string());
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a directory to another user";
  fs::permissions(top / "open", fs::perms(0755));
  ASSERT_EQ(::chown((top / "open").c_str(), 12345, 0), 0);
  EXPECT_EQ(read({"open"}).passed_over.at(0).why, "owned by uid 12345, and not by root or you");
  EXPECT_EQ(rows(read_module_tree({(top / "open").string()}, TrustedOwners({12345}))), Texts{"tool/1"});
}

}  // namespace
}  // namespace sabath
