#include "software/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sabath/error.h"

namespace sabath {
namespace {

SiteProfile a_profile() {
  SiteProfile profile;
  profile.name = "juwels";
  profile.hosts = {"jwlogin*"};
  profile.machine = {{"gpus", "4", "nvidia-smi says so"}, {"mpi", "Open MPI 4.1.6", "mpirun"}};
  profile.disks = {{"/tmp", "ext4", 100, 50, std::nullopt, false, false, "TMPDIR", "NVMe"}};
  profile.partitions = {{"batch", true, 10, 96, 1 << 30, 4, 86400, "sinfo", false},
                        {"long", false, 1, 1, 1, 0, std::nullopt, "sinfo", true}};
  profile.interpreters = {{"/usr/bin/python3", "3.11.2", {{"numpy", "1.24.2"}}, "it says so itself"}};
  Software one;
  one.name = "openmpi";
  one.version = "4.1.6";
  one.module = "openmpi/4.1.6";
  one.chain = {"gcc/12.3"};
  one.needs = {"cuda/12.2"};
  one.opens_first = true;
  one.features = {"cuda"};
  one.known = "Lmod's spider";
  profile.software = {one};
  profile.passed_over = {{"/opt/x", "owned by uid 7"}};
  return profile;
}

TEST(SiteProfileText, ComesBackAsItWas) {
  const std::string text = text_of_profile(a_profile());
  const SiteProfile back = parse_profile(text, "a file");
  EXPECT_EQ(text_of_profile(back), text);
  EXPECT_EQ(back.software[0].chain, std::vector<std::string>{"gcc/12.3"});
  EXPECT_EQ(back.disks[0].bytes_free, 50U);
  EXPECT_TRUE(differences_of(a_profile(), back).empty());
  EXPECT_NE(text.find("\n    {\"name\":\"openmpi\",\"version\":\"4.1.6\""), std::string::npos);  // a line each
  EXPECT_NE(text.find("\n  \"modules\": {}"), std::string::npos);
}

TEST(SiteProfileText, MistakesAreNamedWithTheirLine) {
  const auto refused = [](const std::string& text) {
    try {
      (void)parse_profile(text, "site.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid);
      return error.failure().message;
    }
    return std::string("taken");
  };
  EXPECT_NE(refused("{\"schema\": 1, \"name\": \"x\",\n\"software\": [{\"name\": \"a\", \"versoin\": \"1\"}]}")
                .find("site.json:2"),
            std::string::npos);
  EXPECT_NE(refused("{\"schema\": 2, \"name\": \"x\"}"), "taken");
  EXPECT_NE(refused("{\"schema\": 1}"), "taken");
  EXPECT_NE(refused("{\"schema\": 1, \"name\": \"x\", \"software\": {}}"), "taken");
  EXPECT_NE(refused("[]"), "taken");
  EXPECT_EQ(
      refused("{\"schema\": 1, \"name\": \"x\", \"launchers\": {\"srun\": {\"argv\": []}}, \"modules\": {\"a\": []}}"),
      "taken");
}

TEST(SiteProfileText, DifferencesSayWhatFollows) {
  SiteProfile other = a_profile();
  other.machine[0].value = "0";
  other.machine.push_back({"proxy", "http://p", "http_proxy"});
  other.software[0].version = "5.0.1";
  Software extra;
  extra.name = "fftw";
  extra.version = "3.3.10";
  other.software.push_back(extra);
  other.interpreters[0].packages["numpy"] = "2.0.0";
  other.disks[0].in_memory = true;
  other.partitions.pop_back();
  const auto all = differences_of(a_profile(), other);
  std::vector<std::string> names;
  for (const SiteDifference& one : all) {
    names.push_back(one.what);
    EXPECT_NE(one.meaning, "") << one.what;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"gpus", "proxy", "software fftw", "software openmpi",
                                             "python package numpy", "disk /tmp", "partition long"}));
  EXPECT_EQ(all[3].before, "4.1.6+cuda");
  EXPECT_EQ(all[3].meaning, "no version of it is on both");
}

}  // namespace
}  // namespace sabath
