#include "cli/wording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "cli/frame/global_options.h"
#include "cli/verb.h"
#include "verbs/verb.h"

namespace sabath::cli {
namespace {

void add_names(const OptionSet& set, std::set<std::string>& all) {
  for (const Option& option : set.options()) {
    for (std::size_t at = 0; at != std::string::npos && at < option.names.size();) {
      const auto comma = option.names.find(',', at);
      all.insert(option.names.substr(at, comma - at));
      at = comma == std::string::npos ? comma : comma + 1;
    }
  }
}

std::set<std::string> all_options() {
  std::set<std::string> all;
  OptionSet set;
  GlobalOptions globals;
  declare_global_options(set, globals);
  add_names(set, all);
  for (const Verb* verb : verbs()) {
    OptionSet of_verb;
    static_cast<void>(verb->options_into(of_verb));
    add_names(of_verb, all);
  }
  return all;
}

TEST(Wording, EachNameIsAnOption) {
  const auto options = all_options();
  for (const auto name : option_names) EXPECT_TRUE(options.contains(wording_of_lines.option(name))) << name;
}

TEST(Wording, EachVerbIsOneOfTheCommandLineAndOfTheLibrary) {
  for (const auto name : verb_names) {
    const std::string line = wording_of_lines.verb(name);
    EXPECT_TRUE(std::ranges::any_of(verbs(), [&](const Verb* verb) {
      return "sabath " + std::string(verb->name) == line;
    })) << name;
    EXPECT_TRUE(std::ranges::count(library_verbs(), name, &LibraryVerb::name) == 1) << name;
  }
}

TEST(Wording, IsThatOfTheCommandLineOnceItIsInstalled) {
  EXPECT_EQ(option_text("max_size") + option_name("max_size") + verb_text("stage"), "\"max_size\"max_sizestage");
  use_wording(wording_of_lines);
  EXPECT_EQ(option_text("max_size"), "--max-size");
  EXPECT_EQ(option_name("roots"), "--root");
  EXPECT_EQ(option_text("output"), "-o");
  EXPECT_EQ(verb_text("hdf5 inspect"), "sabath hdf5 inspect");
  EXPECT_EQ(verb_by_ranks_text("stage"), "mpirun sabath stage");
  EXPECT_EQ(record_text("stage"), "what `sabath stage --json` printed");
  use_wording(wording_of_hosts);
  EXPECT_EQ(record_text("stage"), "the record that `stage` gave");
}

}  // namespace
}  // namespace sabath::cli
