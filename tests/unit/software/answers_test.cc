// What module systems, Spack, Slurm and Python say, read from texts that they printed.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sabath/error.h"
#include "software/devices.h"
#include "software/interpreters.h"
#include "software/lua_table.h"
#include "software/module_systems.h"
#include "software/scheduler.h"
#include "software/spack.h"
#include "software/spider.h"

namespace sabath {
namespace {

using Texts = std::vector<std::string>;

std::string answer(const char* name) {
  std::ifstream file(std::string(SABATH_ANSWERS "/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

Texts rows_of(const std::vector<SpiderModule>& modules) {
  Texts all;
  for (const SpiderModule& one : modules)
    all.push_back(fmt::format("{} after [{}]", one.software.module, fmt::join(one.software.chain, ",")));
  std::ranges::sort(all);
  return all;
}

const Texts tree_of_twelve{"cuda/11.8 after []",
                           "cuda/12.2 after []",
                           "fftw/3.3.10 after [gcc/13.2]",
                           "gcc/12.3 after []",
                           "gcc/13.2 after []",
                           "hdf5/1.14 after [gcc/12.3,openmpi/4.1.6]",
                           "hdf5/1.14 after [gcc/13.2,openmpi/5.0.1]",
                           "openmpi/4.1.6 after [gcc/12.3]",
                           "openmpi/5.0.1 after [gcc/13.2]",
                           "tclmod/1.0 after []",
                           "tensorflow/2.11 after [gcc/12.3,openmpi/4.1.6]"};

TEST(AnswersOfLmod, ItsSpider) {
  const auto modules = parse_spider_json(answer("lmod_spider.json"));
  EXPECT_EQ(rows_of(modules), tree_of_twelve);
  const auto mpi =
      std::ranges::find(modules, "openmpi/4.1.6", [](const SpiderModule& one) { return one.software.module; });
  EXPECT_EQ(mpi->software.family, "mpi");
  EXPECT_EQ(mpi->software.features, (Texts{"cuda", "ucx"}));
  EXPECT_EQ(mpi->file, "/sw/Compiler/gcc/12.3/openmpi/4.1.6.lua");
  const auto keras =
      std::ranges::find(modules, "tensorflow/2.11", [](const SpiderModule& one) { return one.software.module; });
  EXPECT_EQ(keras->software.provides, (Texts{"numpy/1.24.2", "keras/2.11"}));
}

TEST(AnswersOfLmod, AModulefileThatPrintsInFrontOfIt) {
  EXPECT_EQ(rows_of(parse_spider_json("hello {\nraw\n" + answer("lmod_spider.json"))), tree_of_twelve);
  EXPECT_THROW((void)parse_spider_json("hello"), Error);
  EXPECT_THROW((void)parse_spider_json("{\"a\": "), Error);
  EXPECT_TRUE(parse_spider_json("[]").empty());
  EXPECT_TRUE(parse_spider_json(R"({"a": {"/a": {"fullName": "a b"}}, "b": 1, "c": {"/c": []}})").empty());
}

TEST(AnswersOfLmod, ItsCache) {
  EXPECT_EQ(rows_of(parse_spider_cache(answer("lmod_spiderT.lua"), {"/sw/Core"})), tree_of_twelve);
  EXPECT_TRUE(parse_spider_cache(answer("lmod_spiderT.lua"), {"/elsewhere"}).empty());
  EXPECT_THROW((void)parse_spider_cache("x = {}", {"/sw"}), Error);
  // Directories that add each other.
  const std::string loop = R"(spiderT = { ["/a"] = {}, ["/b"] = {} }
mpathMapT = { ["/a"] = { ["x/1"] = "/b" }, ["/b"] = { ["y/1"] = "/a" } })";
  EXPECT_TRUE(parse_spider_cache(loop, {"/a"}).empty());
  std::string many = "spiderT = {";  // a search through a list for each of them would take hours
  for (int i = 0; i < 60'000; ++i) many += "[\"/d" + std::to_string(i) + "\"]={},";
  many += "}\nmpathMapT = {";
  for (int i = 0; i < 60'000; ++i) many += "[\"/d" + std::to_string(i) + "\"]={[\"x/1\"]=\"/e\"},";
  EXPECT_TRUE(parse_spider_cache(many + "}", {"/a"}).empty());
}

TEST(AnswersOfLmod, WhatIsNoTable) {
  for (const char* text : {"os.execute('x')", "a = {", "a = { b = }", "a = {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{1}}}}}}",
                           "a = \"x", "a", "a = { [[x] }", "= 1", "a = { 1 2 }"})
    EXPECT_THROW((void)parse_lua_tables(text, "a text"), Error) << text;
  EXPECT_THROW((void)parse_lua_tables("a = { 1, 2, 3 }", "a text", {.values = 3}), Error);
  const auto tables =
      parse_lua_tables("-- a comment\na = { b = 'c\\'d', [1] = false, \"e\", [[\nf]], -2.5e3, }", "a text");
  EXPECT_EQ(tables.at("a").find("b")->text, "c'd");
  EXPECT_EQ(tables.at("a").members.size(), 5U);
}

TEST(AnswersOfModules, TerseLists) {
  EXPECT_EQ(parse_terse_avail(answer("modules_avail.txt")),
            (Texts{"cuda/11.8", "cuda/12.2", "gcc/12.3", "gcc/13.2", "gpu/1"}));
  EXPECT_EQ(parse_terse_avail(answer("lmod_avail.txt")),
            (Texts{"cuda/11.8", "cuda/12.2", "gcc/12.3", "gcc/13.2", "tclmod/1.0"}));
  EXPECT_TRUE(parse_terse_avail("No modules found!\n").empty());
}

TEST(AnswersOfLmod, WhatOnlyTheFileSaysIsJoined) {
  Software file;
  file.module = "openmpi/4.1.6";
  file.chain = {"gcc/12.3"};
  file.needs = {"cuda/12.2"};
  file.features = {"cuda", "cuda/12.2"};
  const auto all = joined(parse_spider_json(answer("lmod_spider.json")), {file}, "Lmod's spider");
  const auto mpi = std::ranges::find(all, "openmpi/4.1.6", &Software::module);
  EXPECT_EQ(mpi->needs, Texts{"cuda/12.2"});
  EXPECT_EQ(mpi->known, "Lmod's spider, and its modulefile");
  EXPECT_EQ(std::ranges::find(all, "fftw/3.3.10", &Software::module)->known, "Lmod's spider");
}

TEST(AnswersOfSpack, ItsDatabase) {
  auto packages = parse_spack_database(answer("spack_index.json"));
  ASSERT_EQ(packages.size(), 2U);
  EXPECT_EQ(packages[0].software.features, (Texts{"cuda", "ucx", "ofi"}));
  std::vector<Software> software(1);
  software[0].module = "openmpi-4.1.6-gcc-12.3.0-abcdefg";
  software[0].known = "its modulefile";
  join_spack(std::move(packages), software);
  ASSERT_EQ(software.size(), 2U);
  EXPECT_EQ(software[0].name, "openmpi");
  EXPECT_EQ(software[0].version, "4.1.6");
  EXPECT_EQ(software[0].known, "its modulefile, and Spack's database");
  EXPECT_EQ(software[1].name, "paraview");
  EXPECT_EQ(software[1].module, "");
  EXPECT_THROW((void)parse_spack_database("{}"), Error);
  EXPECT_THROW((void)parse_spack_database("{\"database\": {\"installs\": []}}"), Error);
  EXPECT_TRUE(
      parse_spack_database(R"({"database": {"installs": {"a": 1, "b": {"installed": true, "spec": 2}}}})").empty());
}

TEST(AnswersOfSlurm, Partitions) {
  const auto partitions = parse_sinfo(answer("sinfo.txt"));
  ASSERT_EQ(partitions.size(), 4U);
  EXPECT_TRUE(partitions[0].usual);
  EXPECT_EQ(partitions[0].name, "batch");
  EXPECT_EQ(partitions[0].nodes, 132U);
  EXPECT_EQ(partitions[0].memory_bytes, 512000ULL << 20U);
  EXPECT_EQ(partitions[0].time_limit_seconds, 172800U);
  EXPECT_EQ(partitions[1].gpus, 4U);
  EXPECT_EQ(partitions[1].cpus, 64U);
  EXPECT_EQ(partitions[2].time_limit_seconds, 1800U);
  EXPECT_FALSE(partitions[3].time_limit_seconds);
  EXPECT_TRUE(parse_sinfo("sinfo: error: no answer\n|||\n||||||\n").empty());
}

TEST(AnswersOfSlurm, PartitionsForTransfers) {
  const auto partitions = parse_sinfo(
      "batch*|up|1:00|2|8|16000|(null)|ib,hdr\nxfer|up|1:00|2|8|16000|(null)|(null)\ndata|up|1:00|1|8|16000|(null)|"
      "dtn\n"
      "mix|up|1:00|1|8|16000|(null)|dtn\nmix|up|1:00|1|8|16000|(null)|ib\nadmin|up|1:00|1|8|16000|(null)|\n");
  ASSERT_EQ(partitions.size(), 5U);
  EXPECT_FALSE(partitions[0].transfer);
  EXPECT_TRUE(partitions[1].transfer);
  EXPECT_EQ(partitions[1].known, "sinfo; its name has \"xfer\"");
  EXPECT_TRUE(partitions[2].transfer);
  EXPECT_EQ(partitions[2].known, "sinfo; a feature of its nodes has \"dtn\"");
  EXPECT_FALSE(partitions[3].transfer);
  EXPECT_EQ(partitions[3].known, "sinfo");
  EXPECT_FALSE(partitions[4].transfer);
  for (const char* name : {"transfer", "Data-Transfer", "dm", "dtn01", "datamover", "copyq", "ib,dm,x"})
    EXPECT_FALSE(word_of_transfer(name).empty()) << name;
  for (const char* name : {"admin", "dma", "transferable", "copying", "", "batch"})
    EXPECT_TRUE(word_of_transfer(name).empty()) << name;
}

TEST(AnswersOfTheNetwork, TheDefaultRoute) {
  const std::string head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n";
  EXPECT_EQ(default_route_of(head + "ib0\t000200C0\t0\t1\t0\t0\t0\t00FFFFFF\n", ""), "no default route");
  EXPECT_EQ(default_route_of(head + "eth0\t00000000\t010200C0\t3\t0\t0\t0\t00000000\t0\n", ""),
            "a default route by eth0");
  const std::string zeros(32, '0');
  const auto ipv6 = [&](const char* length, const char* interface) {
    return zeros + " " + length + " " + zeros + " 00 " + zeros + " 00000400 00000003 00000000 00000003     " +
           interface;
  };
  EXPECT_EQ(default_route_of(head, ipv6("00", "eth1")), "a default route by eth1");
  EXPECT_EQ(default_route_of(head, ipv6("00", "lo")), "no default route");
  EXPECT_EQ(default_route_of(head, ipv6("08", "eth1")), "no default route");
  EXPECT_EQ(default_route_of("\t\t\n", "x"), "no default route");
}

TEST(AnswersOfSlurm, LimitsAndGpus) {
  EXPECT_EQ(seconds_of_limit("30"), 1800U);
  EXPECT_EQ(seconds_of_limit("1:30"), 90U);
  EXPECT_EQ(seconds_of_limit("1:00:00"), 3600U);
  EXPECT_EQ(seconds_of_limit("1-12"), 86400U + 43200U);
  EXPECT_FALSE(seconds_of_limit("infinite"));
  EXPECT_FALSE(seconds_of_limit("99999999999999999999-00:00:00"));
  EXPECT_EQ(gpus_of_gres("gpu:4"), 4U);
  EXPECT_EQ(gpus_of_gres("gpu"), 1U);
  EXPECT_EQ(gpus_of_gres("(null)"), 0U);
  EXPECT_EQ(gpus_of_gres("gpu:99999999999999"), 1024U);
}

TEST(AnswersOfPython, Packages) {
  const auto found = parse_python_answer("3.11.2\nnumpy==1.24.2\nbad line\n==1\nempty==\nnumpy==9\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "3.11.2");
  EXPECT_EQ(found->packages, (std::map<std::string, std::string>{{"numpy", "1.24.2"}}));
  EXPECT_FALSE(parse_python_answer("Traceback\n"));
  EXPECT_FALSE(parse_python_answer(""));
}

TEST(AnswersOfMpi, Cuda) {
  EXPECT_EQ(cuda_of_ompi_info("mca:mpi:base:param:mpi_built_with_cuda_support:value:true\n"), "yes");
  EXPECT_EQ(cuda_of_ompi_info("mca:mpi:base:param:mpi_built_with_cuda_support:value:false\n"), "no");
  EXPECT_EQ(cuda_of_ompi_info("ident:4.1.4"), "");
}

TEST(AnswersOfTheNetwork, NoPassword) {
  EXPECT_EQ(proxy_without_password("http://me:secret@proxy.lab:3128/"), "http://proxy.lab:3128/");
  EXPECT_EQ(proxy_without_password("me:se@cret@proxy.lab:3128"), "proxy.lab:3128");
  EXPECT_EQ(proxy_without_password("proxy.lab"), "proxy.lab");
  EXPECT_EQ(proxy_without_password("http://me:SEC/RETW@h:1"), "http://(not shown)");
  EXPECT_EQ(proxy_without_password("me:SEC?RE#TW@h:1/x"), "(not shown)");
  EXPECT_EQ(proxy_without_password("http://h:1/?tok=SECRETW"), "http://h:1");
  EXPECT_EQ(proxy_without_password("http://h:1?tok=SEC@RETW"), "http://(not shown)");
}

}  // namespace
}  // namespace sabath
