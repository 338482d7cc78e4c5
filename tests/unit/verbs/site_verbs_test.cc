// Profiles of sites: shown, compared, solved, as C++ calls and by their names. What is found on a real machine is tried
// by tests/cli/site_test.py.
#include <gtest/gtest.h>

#include <fstream>

#include "ask.h"
#include "sabath/verbs/site.h"
#include "sabath/verbs/site_solve.h"
#include "site.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using SiteJson = nlohmann::ordered_json;

class SiteVerbs : public ::testing::Test {
 protected:
  // A profile with one module for each version of openmpi.
  fs::path profile(const std::string& name, const std::vector<std::string>& versions) {
    SiteJson json{{"schema", 1}, {"name", name}, {"hosts", SiteJson::array()}, {"software", SiteJson::array()}};
    for (const std::string& version : versions)
      json["software"].push_back({{"name", "openmpi"}, {"version", version}, {"module", "openmpi/" + version}});
    const fs::path file = site / (name + ".json");
    std::ofstream(file) << json;
    return file;
  }

  Site site;
  Session session = site.open();
  NoEvents unheard;
};

TEST_F(SiteVerbs, AProfileIsShown) {
  const fs::path file = profile("one", {"4.1.6"});
  const ShowSiteRecord shown = show_site(session, {file.string(), {}}, unheard);
  EXPECT_EQ(shown.profile.software.at(0).module, "openmpi/4.1.6");
  EXPECT_EQ(ask(session, "site show", {{"name", file.string()}}), to_json(shown));
  EXPECT_EQ(refusal(session, "site show", {{"name", "/nowhere/x.json"}}).kind, FailureKind::not_found);
}

TEST_F(SiteVerbs, TwoProfilesAreCompared) {
  const fs::path one = profile("one", {"4.1.6"}), two = profile("two", {"4.1.6", "5.0.1"});
  const DiffSitesRecord record = diff_sites(session, {one.string(), two.string(), {}}, unheard);
  ASSERT_EQ(record.differences.size(), 1U);
  EXPECT_EQ(record.differences[0].after, "5.0.1, 4.1.6");
  EXPECT_EQ(record.differences[0].meaning, "ask for a version that both have");
  EXPECT_EQ(ask(session, "site diff", {{"before", one.string()}, {"after", two.string()}}), to_json(record));
}

TEST_F(SiteVerbs, ANeedIsSolvedOrNot) {
  const fs::path file = profile("one", {"4.1.6", "5.0.1"});
  const SolveSiteRecord record =
      solve_site(session, {.needs = {"openmpi<5"}, .model = "", .site = file.string(), .environment = {}}, unheard);
  EXPECT_EQ(record.modules, std::vector<std::string>{"openmpi/4.1.6"});
  EXPECT_EQ(record.exit, 0);
  EXPECT_EQ(ask(session, "site solve", {{"needs", {"openmpi<5"}}, {"site", file.string()}}), to_json(record));
  const auto none = SiteJson::parse(ask(session, "site solve", {{"needs", {"openmpi>5.1"}}, {"site", file.string()}}));
  EXPECT_EQ(none["exit"], 3);
  EXPECT_EQ(none["nearest"], SiteJson::array({"openmpi/5.0.1"}));
  EXPECT_EQ(refusal(session, "site solve", {{"needs", {"a b"}}, {"site", file.string()}}).kind, FailureKind::usage);
}

}  // namespace
}  // namespace sabath::test
