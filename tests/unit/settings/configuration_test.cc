#include "sabath/configuration.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sabath/error.h"
#include "settings/config_file.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class ConfigurationTest : public testing::Test {
 protected:
  void SetUp() override {
    environment_.home = home_;
    environment_.executable = prefix_ / "bin/sabath";
  }
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  Configuration load() const { return load_configuration(sources_, environment_); }
  std::string origin_of(const std::string& key) const {
    for (const ConfigurationEntry& setting : load().settings) {
      if (setting.key == key) return setting.origin;
    }
    return "no such setting";
  }
  Failure failure() const {
    try {
      (void)load();
    } catch (const Error& error) {
      return error.failure();
    }
    return {FailureKind::internal, "it was accepted", "", {}};
  }

  test::TempDir directory_;
  fs::path home_ = directory_.path() / "home", prefix_ = directory_.path() / "prefix";
  ConfigurationSources sources_;
  Environment environment_;
};

TEST_F(ConfigurationTest, TheStoreInOrderOfPrecedence) {
  EXPECT_EQ(load().session.store, home_ / ".cache/sabath");
  environment_.variables["XDG_CACHE_HOME"] = "/xdg";
  EXPECT_EQ(load().session.store, "/xdg/sabath");
  environment_.variables["SCRATCH"] = "/scratch/me";
  EXPECT_EQ(load().session.store, "/scratch/me/.sabath");
  write(prefix_ / "etc/sabath/config.json", R"({"store": "${SCRATCH}/site"})");
  EXPECT_EQ(load().session.store, "/scratch/me/site");
  write(home_ / ".config/sabath/config.json", R"({"store": "~/mine"})");
  EXPECT_EQ(load().session.store, home_ / "mine");
  environment_.variables["SABATH_CACHE"] = "/from/environment/";
  EXPECT_EQ(load().session.store, "/from/environment/");
  sources_.store = "/from/flag";
  EXPECT_EQ(load().session.store, "/from/flag");
  EXPECT_EQ(origin_of("store"), "store");
}

TEST_F(ConfigurationTest, WithoutAHomeItAsks) {
  environment_.home.clear();
  EXPECT_EQ(failure().kind, FailureKind::usage);
  sources_.store = "/s";
  EXPECT_EQ(load().session.store, "/s");
}

TEST_F(ConfigurationTest, RecipesAreSearchedInOrder) {
  fs::create_directories(home_ / ".local/share/sabath/recipes");
  fs::create_directories(prefix_ / "share/sabath/shipped");
  write(home_ / ".config/sabath/config.json", R"({"recipes": ["mine", "/a"]})");
  write(prefix_ / "etc/sabath/config.json", R"({"recipes": ["/site"]})");
  environment_.variables["SABATH_RECIPES"] = "/a::/b";
  EXPECT_EQ(load().session.recipe_directories,
            (std::vector<fs::path>{"/a", "/b", home_ / ".config/sabath/mine", home_ / ".local/share/sabath/recipes",
                                   "/site", prefix_ / "share/sabath/shipped"}));
}

TEST_F(ConfigurationTest, ABuildReadsTheRecipesOfItsSource) {
  environment_.executable = directory_.path() / "source/build/release/bin/sabath";
  fs::create_directories(directory_.path() / "source/recipes");
  EXPECT_EQ(load().session.recipe_directories, std::vector<fs::path>{directory_.path() / "source/recipes"});
}

TEST_F(ConfigurationTest, AllKeysOfAFile) {
  write(home_ / ".config/sabath/config.json",
        R"({"roots": ["/r"], "rewrites": [{"from": "https://a/", "to": "http://b/"}], "lanes": 4, "limit_rate": "10M",
            "offline": true, "ca_file": "/ca.pem", "connect_timeout_s": 5, "stall_timeout_s": 6, "command_deadline_s": 7})");
  write(prefix_ / "etc/sabath/config.json",
        R"({"rewrites": [{"from": "https://c/", "to": "http://d/"}], "lanes": 2, "offline": false, "roots": ["/x"]})");
  const Configuration configuration = load();
  EXPECT_EQ(configuration.session.roots, std::vector<fs::path>{"/r"});
  EXPECT_EQ(configuration.session.rewrites, (std::vector<std::pair<std::string, std::string>>{
                                                {"https://a/", "http://b/"}, {"https://c/", "http://d/"}}));
  EXPECT_EQ(configuration.session.lanes, 4U);
  EXPECT_EQ(configuration.session.limit_rate, 10'000'000U);
  EXPECT_TRUE(configuration.session.offline);
  EXPECT_EQ(configuration.session.fetchers.ca_file, "/ca.pem");
  EXPECT_EQ(configuration.session.fetchers.connect_timeout_ms, 5000);
  EXPECT_EQ(configuration.session.fetchers.stall_timeout_ms, 6000);
  EXPECT_EQ(configuration.session.fetchers.commands.deadline_s, 7);
  environment_.variables["SABATH_OFFLINE"] = "0";
  environment_.variables["SABATH_ROOT"] = "/e";
  EXPECT_FALSE(load().session.offline);
  EXPECT_EQ(load().session.roots, std::vector<fs::path>{"/e"});
  sources_.offline = true;
  EXPECT_TRUE(load().session.offline);
}

TEST_F(ConfigurationTest, RulesForHostsOfBothFilesHold) {
  write(home_ / ".config/sabath/config.json", R"({"hosts": [{"host": "Data.Lab", "connections": 3}]})");
  write(prefix_ / "etc/sabath/config.json", R"({"hosts": [{"host": "*.lab", "limit_rate": "1k"}]})");
  EXPECT_EQ(load().session.host_rules, (std::vector<HostRule>{{"data.lab", {3, 0}}, {"*.lab", {0, 1000}}}));
}

TEST_F(ConfigurationTest, AFileThatWasNamedMustBeThere) {
  sources_.config = (directory_.path() / "none.json").string();
  EXPECT_EQ(failure().kind, FailureKind::usage);
  write(directory_.path() / "named.json", R"({"lanes": 7})");
  sources_.config = (directory_.path() / "named.json").string();
  EXPECT_EQ(load().session.lanes, 7U);
}

TEST_F(ConfigurationTest, WhatIsWrongIsNamedWithItsLine) {
  const std::pair<std::string, std::string> wrong[] = {
      {"{\n\"stroe\": \"/s\"}", ":2: "},
      {R"({"lanes": 9999})", "lanes"},
      {R"({"lanes": "four"})", "lanes"},
      {R"({"offline": 1})", "offline"},
      {R"({"limit_rate": "fast"})", "limit_rate"},
      {R"({"hosts": [{"connections": 2}]})", "host"},
      {R"({"hosts": [{"host": "http://a"}]})", "host"},
      {R"({"hosts": [{"host": "a", "connections": 5000}]})", "connections"},
      {R"({"hosts": [{"host": "a", "rate": 1}]})", "rate"},
      {R"({"store": "$NOWHERE/x"})", "$NOWHERE"},
      {R"({"store": "${SCRATCH"})", "store"},
      {R"({"rewrites": [{"from": "a"}]})", "to"},
      {"[]", "configuration"},
      {"{", "config.json"},
  };
  for (const auto& [text, part] : wrong) {
    write(home_ / ".config/sabath/config.json", text);
    EXPECT_EQ(failure().kind, FailureKind::invalid) << text;
    EXPECT_NE(failure().message.find(part), std::string::npos) << failure().message;
  }
  write(home_ / ".config/sabath/config.json", R"({"stroe": "/s"})");
  EXPECT_NE((failure().message + failure().hint).find("store"), std::string::npos);
}

TEST_F(ConfigurationTest, ASwitchMustBeOne) {
  environment_.variables["SABATH_OFFLINE"] = "perhaps";
  EXPECT_EQ(failure().kind, FailureKind::usage);
}

TEST_F(ConfigurationTest, AuthoritiesOfEveryProgramComeAfterItsOwn) {
  EXPECT_EQ(load().session.fetchers.ca_file, "");
  environment_.variables["SSL_CERT_FILE"] = "/of/all.pem";
  EXPECT_EQ(load().session.fetchers.ca_file, "/of/all.pem");
  write(home_ / ".config/sabath/config.json", R"({"ca_file": "/own.pem"})");
  EXPECT_EQ(load().session.fetchers.ca_file, "/own.pem");
}

}  // namespace
}  // namespace sabath
