#include "software/module_text.h"

#include <gtest/gtest.h>

#include <random>

namespace sabath {
namespace {

using Texts = std::vector<std::string>;

TEST(ModuleTextOfLua, WhatEasyBuildAndSpackWrite) {
  const ModuleText said = read_lua_module(R"lua(
help([==[ prepend_path("MODULEPATH", "/of/a/text") ]==])
whatis([[Description: MPI]])
whatis("Keywords: CUDA, ucx")
local root = "/sw/all"  -- prepend_path("MODULEPATH", "/of/a/comment")
--[[ load("nothing") ]]
conflict("mpich", 'impi/2021')
family("mpi")
if not ( isloaded("zlib/1.2.13") ) then
    load("zlib/1.2.13")
end
depends_on("cuda/12.2", "ucx/1.14")
prereq("gcc/12.3")
prereq("a", "b")
extensions("numpy/1.24.2, keras/2.11")
prepend_path("MODULEPATH", pathJoin(root, "MPI", myModuleName(), myModuleVersion()) )
append_path("MODULEPATH", root .. "/more/")
prepend_path("MODULEPATH", os.getenv("HOME") .. "/own")
prepend_path("MODULEPATH", "relative")
prepend_path("PATH", "/sw/bin")
)lua",
                                          "openmpi/4.1.6");
  EXPECT_EQ(said.directories, (Texts{"/sw/all/MPI/openmpi/4.1.6", "/sw/all/more"}));
  EXPECT_EQ(said.unread, 2U);
  EXPECT_EQ(said.needs, (Texts{"zlib/1.2.13", "cuda/12.2", "ucx/1.14", "gcc/12.3"}));
  EXPECT_EQ(said.conflicts, (Texts{"mpich", "impi/2021"}));
  EXPECT_EQ(said.features, (Texts{"cuda", "ucx"}));
  EXPECT_EQ(said.provides, (Texts{"numpy/1.24.2", "keras/2.11"}));
  EXPECT_EQ(said.family, "mpi");
}

TEST(ModuleTextOfTcl, WhatTclModulesWrite) {
  const ModuleText said = read_tcl_module(R"tcl(#%Module1.0
# prepend-path MODULEPATH /of/a/comment
module-whatis {Keywords: cuda}
set root /sw/all
set base "$root/MPI"
conflict mpich
prereq gcc/12.3
prereq a b
if { ![ is-loaded zlib/1.2.13 ] } {
    module load zlib/1.2.13
}
module load cuda/12.2 \
    ucx/1.14
family mpi
prepend-path MODULEPATH ${base}/openmpi
prepend-path -d : MODULEPATH /sw/more
module use --append /sw/used
prepend-path MODULEPATH $env(HOME)/own
append-path PATH /sw/bin
)tcl");
  EXPECT_EQ(said.directories, (Texts{"/sw/all/MPI/openmpi", "/sw/more", "/sw/used"}));
  EXPECT_EQ(said.unread, 1U);
  EXPECT_EQ(said.needs, (Texts{"gcc/12.3", "zlib/1.2.13", "cuda/12.2", "ucx/1.14"}));
  EXPECT_EQ(said.conflicts, Texts{"mpich"});
  EXPECT_EQ(said.features, Texts{"cuda"});
  EXPECT_EQ(said.family, "mpi");
}

TEST(ModuleText, WhatComesFirst) {
  EXPECT_TRUE(read_lua_module("prepend_path('MODULEPATH', '/a')\ndepends_on('x/1')", "a/1").opens_first);
  EXPECT_FALSE(read_lua_module("depends_on('x/1')\nprepend_path('MODULEPATH', '/a')", "a/1").opens_first);
  EXPECT_TRUE(read_tcl_module("#%Module\nmodule use /a\nprereq x/1\n").opens_first);
  EXPECT_FALSE(read_tcl_module("#%Module\nprereq x/1\nmodule use /a\n").opens_first);
}

TEST(ModuleText, Ranges) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(read_lua_module("depends_on(atleast('gcc', '12'), between('a', '1', '2'), latest('b'))", "x/1").needs,
            (Texts{"gcc@12:", "a@1:<=2", "b"}));
  EXPECT_TRUE(
      read_lua_module("depends_on(between('a', '<1', '2'), atleast('g@1', '2'), atleast(x, '1'), atleast())", "x/1")
          .needs.empty());
  EXPECT_EQ(read_tcl_module("#%Module\nprereq gcc@12:\nmodule load a/1 +cuda ~mpi\n").needs, (Texts{"gcc@12:", "a/1"}));
}

TEST(ModuleText, HostileTextsAreBounded) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "load(\"a/" + std::to_string(i) + "\")\n";
  EXPECT_LE(read_lua_module(many, "x/1").needs.size(), 256U);
  std::string nested(100'000, '(');
  EXPECT_TRUE(read_lua_module("prepend_path" + nested, "x/1").directories.empty());
  std::string calls = "prepend_path(\"MODULEPATH\", ";
  for (int i = 0; i < 10'000; ++i) calls += "pathJoin(";
  EXPECT_TRUE(read_lua_module(calls, "x/1").directories.empty());
  std::string doubling = "a = \"0123456789abcdef\"\n";
  for (int i = 0; i < 60; ++i) doubling += "a = a .. a\n";
  EXPECT_TRUE(read_lua_module(doubling + "prepend_path(\"MODULEPATH\", \"/x/\" .. a)", "x/1").directories.empty());
  doubling = "#%Module\nset a /0123456789abcdef\n";
  for (int i = 0; i < 60; ++i) doubling += "set a $a$a\n";
  EXPECT_LE(read_tcl_module(doubling + "module use $a\n").directories.size(), 1U);
  EXPECT_TRUE(read_lua_module("load(\"a\x1b[31m\", \"b c\")", "x/1").needs.empty());
}

TEST(ModuleText, AnyBytesEnd) {
  std::mt19937 random(7);
  const std::string_view pieces[] = {"prepend_path(",
                                     "\"MODULEPATH\"",
                                     ",",
                                     "pathJoin(",
                                     ")",
                                     "..",
                                     "[[",
                                     "]]",
                                     "--",
                                     "\n",
                                     "=",
                                     "a",
                                     "\"",
                                     "'",
                                     "\\",
                                     "{",
                                     "}",
                                     "$",
                                     "[",
                                     "set ",
                                     "#%Module\n",
                                     "\0"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (unsigned i = 0; i < 40; ++i) text += pieces[random() % std::size(pieces)];
    (void)read_lua_module(text, "x/1");
    (void)read_tcl_module(text);
  }
}

}  // namespace
}  // namespace sabath
