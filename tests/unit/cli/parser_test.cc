#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>

#include "cli/completion.h"
#include "cli/groups.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/verbs.h"
#include "golden.h"
#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath::cli {
namespace {

struct Seen {
  std::vector<std::string> names, datasets;
  std::string kind, single;
  std::optional<std::uint64_t> lanes, rate;
  bool force = false;
};
Seen seen;  // what the verb below was given

Action declare(OptionSet& set) {
  seen = {};
  set.arguments("NAME", seen.names, false, "an asset");
  set.option("-d,--dataset", "NAME", seen.datasets, "a dataset");
  set.option("--single", "X", seen.single, "the last one counts");
  set.choice("--kind", {"dataset", "model"}, seen.kind, "a kind");
  set.count("--lanes", "N", 256, seen.lanes, "lanes");
  set.size("--limit-rate", "RATE", seen.rate, "a rate");
  set.flag("-f,--force", seen.force, "force");
  return [](Context&) { return 0; };
}

constexpr Verb fetch{"fetch", "get it", "sabath fetch one    one asset", "Details.", true, declare};
constexpr Verb create{"manifest create", "make it", "sabath manifest create", "", false, declare};
constexpr Verb show{"manifest show", "show it", "sabath manifest show", "", false, declare};
constexpr std::array verbs_here{&fetch, &create, &show};

ParsedLine parse(const std::vector<std::string>& line) { return parse_line(line, verbs_here); }

Failure failure_of(const std::vector<std::string>& line) {
  try {
    (void)parse(line);
  } catch (const Error& error) {
    return error.failure();
  }
  return {FailureKind::internal, "it was accepted", "", {}};
}

TEST(Parser, TakesGlobalOptionsBeforeAndAfterTheVerb) {
  for (const auto& line : {std::vector<std::string>{"--json", "--store", "/s", "-v", "fetch", "one"},
                           {"fetch", "--json", "one", "--store=/s", "-v"},
                           {"fetch", "one", "--cache", "/s", "--json", "--verbose"}}) {
    const ParsedLine parsed = parse(line);
    EXPECT_EQ(parsed.verb, &fetch);
    EXPECT_TRUE(parsed.globals.json && parsed.globals.verbose);
    EXPECT_EQ(parsed.globals.store, "/s");
    EXPECT_EQ(seen.names, std::vector<std::string>{"one"});
  }
}

TEST(Parser, TakesOptionsOfTheVerbBeforeItToo) {
  for (const auto& line : {std::vector<std::string>{"--kind", "model", "-f", "--json", "-d", "d", "fetch", "one"},
                           {"--json", "--kind=model", "-dd", "--force", "fetch", "one"}}) {
    const ParsedLine parsed = parse(line);
    EXPECT_EQ(parsed.verb, &fetch);
    EXPECT_TRUE(parsed.globals.json && seen.force);
    EXPECT_EQ(seen.kind, "model");
    EXPECT_EQ(seen.datasets, std::vector<std::string>{"d"});
    EXPECT_EQ(seen.names, std::vector<std::string>{"one"});
  }
  EXPECT_EQ(failure_of({"--knd", "model", "fetch"}).message, "sabath fetch: no such option: '--knd'");
}

TEST(Parser, AnOptionTakesOneValueAndLeavesTheArguments) {
  (void)parse(
      {"fetch", "-d", "a", "one", "-d", "b", "two", "-f", "--lanes", "8", "--limit-rate=10M", "--kind", "model"});
  EXPECT_EQ(seen.names, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(seen.datasets, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(seen.lanes, 8U);
  EXPECT_EQ(seen.rate, 10'000'000U);
  EXPECT_EQ(seen.kind, "model");
  EXPECT_TRUE(seen.force);
}

TEST(Parser, TheLastOfASingleOptionCounts) {
  (void)parse({"fetch", "--single", "a", "--single", "b"});
  EXPECT_EQ(seen.single, "b");
}

TEST(Parser, AfterTwoDashesAllAreArguments) {
  (void)parse({"fetch", "--", "-x", "--json"});
  EXPECT_EQ(seen.names, (std::vector<std::string>{"-x", "--json"}));
}

TEST(Parser, AnAssetMayBeCalledLikeAVerb) {
  (void)parse({"fetch", "fetch", "manifest"});
  EXPECT_EQ(seen.names, (std::vector<std::string>{"fetch", "manifest"}));
}

TEST(Parser, KnowsVerbsOfAGroup) {
  EXPECT_EQ(parse({"manifest", "show"}).verb, &show);
  const ParsedLine group = parse({"manifest"});
  EXPECT_EQ(group.verb, nullptr);
  EXPECT_EQ(group.group, "manifest");
  EXPECT_EQ(parse({}).group, "");
}

TEST(Parser, HelpNeedsNothingElse) {
  EXPECT_TRUE(parse({"-h"}).help);
  EXPECT_EQ(parse({"fetch", "--help"}).verb, &fetch);
  EXPECT_TRUE(parse({"manifest", "--help"}).help);
}

struct Wrong {
  std::vector<std::string> line;
  std::string message, hint;
};

TEST(Parser, SaysWhatIsWrongAndWhatWasMeant) {
  const Wrong wrong[] = {
      {{"fech"}, "no such command: 'fech'", "did you mean fetch?"},
      {{"pin", "a b"},
       "no such command: 'pin'",
       "its name is `sabath keep 'a b'` now; `sabath catalogue pin` is for recipes"},
      {{"unpin", "one", "two"}, "no such command: 'unpin'", "its name is `sabath unkeep one two` now"},
      {{"manifest", "shwo"}, "sabath manifest: no such command: 'shwo'", "did you mean show?"},
      {{"qqqq"}, "no such command: 'qqqq'", "see: sabath --help"},
      {{"fetch", "--datset", "x"}, "sabath fetch: no such option: '--datset'", "did you mean --dataset?"},
      {{"fetch", "--jsn"}, "sabath fetch: no such option: '--jsn'", "did you mean --json?"},
      {{"--stroe=/x", "fetch"}, "sabath fetch: no such option: '--stroe'", "did you mean --store?"},
      {{"fetch", "--kind", "modle"}, "--kind cannot be 'modle'", "did you mean model?"},
      {{"fetch", "--lanes", "-1"}, "--lanes cannot be '-1'", "give a whole number from 0 to 256"},
      {{"fetch", "--lanes", "257"}, "--lanes cannot be '257'", "give a whole number from 0 to 256"},
      {{"fetch", "--limit-rate", "fast"}, "--limit-rate cannot be 'fast'", "give bytes such as 500k, 10M or 2.5GiB"},
      {{"fetch", "-d"}, "sabath fetch: --dataset needs one value", "see: sabath fetch --help"},
      {{"fetch", "\x1b[2Jx"}, "", ""},
      {{"\x1b[2Jx"}, "no such command: '\\x1b[2Jx'", "see: sabath --help"},
  };
  for (const Wrong& one : wrong) {
    if (one.message.empty()) {
      EXPECT_NO_THROW((void)parse(one.line));
      continue;
    }
    const Failure failure = failure_of(one.line);
    EXPECT_EQ(failure.kind, FailureKind::usage) << one.message;
    EXPECT_EQ(failure.message, one.message);
    EXPECT_EQ(failure.hint, one.hint);
  }
}

TEST(Parser, TheProgramsOwnVerbsAllParse) {
  for (const Verb* verb : verbs()) {
    std::vector<std::string> line;
    std::string word;
    for (const char c : std::string(verb->name) + " ") {
      c == ' ' ? line.push_back(std::exchange(word, "")) : word.push_back(c);
    }
    line.emplace_back("--help");
    EXPECT_EQ(parse_line(line, verbs()).verb, verb) << verb->name;
  }
}

TEST(Parser, AnOptionMakesAnotherVerbOfACommand) {
  for (const auto& line : {std::vector<std::string>{"info", "--where", "one"},
                           {"--where", "info", "one", "--json"},
                           {"-q", "info", "one", "--where"}}) {
    EXPECT_EQ(parse_line(line, verbs()).verb, &where_verb);
  }
  EXPECT_EQ(parse_line({"info", "one"}, verbs()).verb, &info_verb);
  EXPECT_EQ(parse_line({"export", "one", "--want", "f", "-o", "x"}, verbs()).verb, &export_verb);
  EXPECT_EQ(parse_line({"export", "--missing", "one", "-o", "x"}, verbs()).verb, &want_verb);
  EXPECT_EQ(parse_line({"apply", "--list"}, verbs()).verb, &supporting_verb);
  EXPECT_NE(help_of_verb(info_verb, 80).find("--where"), std::string::npos);
  EXPECT_EQ(complete({"info", "--whe"}, verbs()).words.at(0).first, "--where");
  EXPECT_EQ(complete({"info", "--where", "--fo"}, verbs()).words.size(), 0U);
  EXPECT_EQ(command_of(where_verb), "info");
  EXPECT_EQ(mode_of(info_verb), "");
}

TEST(Help, ShowsExamplesFirst) {
  EXPECT_EQ(help_of_verb(fetch, 100),
            "sabath fetch: get it\n"
            "\n"
            "Examples\n"
            "  sabath fetch one    one asset\n"
            "\n"
            "Usage: sabath fetch [OPTION]... [NAME]...\n"
            "\n"
            "Details.\n"
            "\n"
            "Arguments\n"
            "  NAME  an asset\n"
            "\n"
            "Options\n"
            "  -d, --dataset NAME    a dataset (repeatable)\n"
            "  --single X            the last one counts\n"
            "  --kind dataset|model  a kind\n"
            "  --lanes N             lanes\n"
            "  --limit-rate RATE     a rate\n"
            "  -f, --force           force\n"
            "\n"
            "Options of every command: sabath --help\n");
}

TEST(Help, OfTheProgramAndOfAGroup) {
  test::expect_golden("help_manifest", help_of_noun("manifest", verbs(), 100));
  test::expect_golden("help_manifest_create", help_of_verb(manifest_create_verb, 100));
  test::expect_golden("help_config", help_of_verb(config_verb, 100));
}

std::set<std::string_view> first_words(std::span<const Verb* const> verbs) {
  std::set<std::string_view> words;
  for (const Verb* verb : verbs) words.insert(verb->name.substr(0, verb->name.find(' ')));
  return words;
}

TEST(Groups, EachWordIsAVerbOrANounOfOneGroup) {
  const auto words = first_words(verbs());
  std::set<std::string_view> placed;
  std::size_t daily = 0;
  for (const VerbGroup& group : verb_groups()) {
    EXPECT_EQ(verb_group_named(group.word), &group);
    for (const auto* list : {&group.daily, &group.further}) {
      for (const std::string_view word : *list) {
        if (word.empty()) continue;
        EXPECT_TRUE(words.contains(word)) << word;
        EXPECT_TRUE(placed.insert(word).second) << word;
        const bool noun = std::ranges::find(verbs(), word, &Verb::name) == verbs().end();
        EXPECT_EQ(noun, !summary_of_noun(word).empty()) << word;
      }
    }
    daily += static_cast<std::size_t>(std::ranges::count_if(group.daily, [](auto word) { return !word.empty(); }));
  }
  EXPECT_EQ(placed, words);
  EXPECT_LE(daily, 30U);
}

TEST(Groups, HaveEachVerbOnce) {
  std::vector<const Verb*> all;
  for (const VerbGroup& group : verb_groups()) std::ranges::copy(verbs_of(group, verbs()), std::back_inserter(all));
  EXPECT_EQ(all.size(), verbs().size());
  const Verb unknown{.name = "zebra", .summary = "ride it", .examples = "", .details = ""};
  const std::array one{&unknown};
  EXPECT_EQ(verbs_of(verb_groups().back(), one).size(), 1U);
  LibraryVerb described;
  described.text.group = "store";
  const Verb stored{.name = "zebra", .summary = "ride it", .examples = "", .details = "", .library = &described};
  const std::array two{&stored};
  EXPECT_EQ(verbs_of(*verb_group_named("store"), two).size(), 1U);
  EXPECT_EQ(verbs_of(verb_groups().back(), two).size(), 0U);
}

// On a terminal of 80 columns each command of the first screen is one line.
TEST(Groups, AreAShortFirstScreen) {
  std::istringstream lines(help_of_program(verbs(), 80));
  std::size_t commands = 0, options = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Options")) options = 1;
    if (options == 0 && line.starts_with("   ")) ADD_FAILURE() << line;
    if (options == 0 && line.starts_with("  ") && !line.starts_with("  sabath ")) ++commands;
  }
  EXPECT_GT(commands, 20U);
  EXPECT_LE(commands, 30U);
}

// What a reader reads, without line ends: what breaks a line of a shell is no word of it.
std::string words_of(const std::string& text) {
  std::string words;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (word != "\\") words += word;
  }
  return words;
}

TEST(Help, FitsATerminalAndLosesNothing) {
  std::vector<std::function<std::string(std::size_t)>> texts;
  for (const Verb* verb : verbs()) texts.emplace_back([verb](std::size_t width) { return help_of_verb(*verb, width); });
  texts.emplace_back([](std::size_t width) { return help_of_program(verbs(), width); });
  texts.emplace_back([](std::size_t width) { return help_of_all_verbs(verbs(), width); });
  texts.emplace_back([](std::size_t width) { return help_of_noun("manifest", verbs(), width); });
  for (const auto& text_at : texts) {
    const std::string whole = words_of(text_at(100));
    for (const std::size_t width : {48U, 60U, 80U, 100U}) {
      const std::string text = text_at(width);
      EXPECT_EQ(words_of(text), whole);
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
    }
  }
}

}  // namespace
}  // namespace sabath::cli
