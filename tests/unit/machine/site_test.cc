#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "machine/site.h"
#include "sabath/error.h"

namespace sabath {
namespace {

std::string shipped(const std::string& name) {
  std::ifstream file(std::string(SABATH_SOURCE_DIR "/etc/sites/") + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Site, ShippedProfilesAreGood) {
  const Site generic = parse_site(shipped("generic"), "generic");
  for (const char* launcher : {"direct", "mpirun", "srun", "flux"}) EXPECT_TRUE(generic.launchers.contains(launcher));
  for (const char* kind : {"apptainer", "podman", "charliecloud"}) EXPECT_TRUE(generic.containers.contains(kind));
  const Site example = merged(generic, parse_site(shipped("lmod-example"), "example"));
  EXPECT_EQ(example.launcher, "srun");
  EXPECT_TRUE(example.launchers.contains("flux"));
  EXPECT_TRUE(is_host_of(example, "node12.cluster.example"));
  EXPECT_FALSE(is_host_of(example, "node12.elsewhere.example"));
  EXPECT_EQ(modules_for(example, {"cuda>=11", "cuda/11.8.0", "cmake/3.26.3", "unheard/1"}),
            (std::vector<std::string>{"cuda/12.2", "cuda/11.8", "unheard/1"}));
}

TEST(Site, LaunchersGoInFront) {
  const Site generic = parse_site(shipped("generic"), "generic");
  EXPECT_EQ(wrap(generic.launchers.at("direct"), {}, {"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(
      wrap(generic.launchers.at("srun"), {8, 2, "/w", "", {}}, {"a", "b c"}),
      (std::vector<std::string>{"srun", "--nodes=2", "--ntasks=8", "--label", "--kill-on-bad-exit=1", "a", "b c"}));
  EXPECT_EQ(wrap(generic.containers.at("apptainer"), {1, 1, "/w", "i.sif", {"/a", "/b {work}"}}, {"x"}),
            (std::vector<std::string>{"apptainer", "exec", "--pwd", "/w", "--bind", "/a", "--bind", "/b {work}",
                                      "i.sif", "x"}));
}

TEST(Site, MistakesAreTold) {
  for (const char* text :
       {"{}", R"({"schema":2,"name":"a"})", R"({"schema":1})", R"({"schema":1,"name":"a","modul":{}})",
        R"({"schema":1,"name":"a","modules":{"cuda":"cuda/11"}})",
        R"({"schema":1,"name":"a","launchers":{"x":{"argv":"srun"}}})"}) {
    EXPECT_THROW(static_cast<void>(parse_site(text, "s.json")), Error) << text;
  }
}

}  // namespace
}  // namespace sabath
