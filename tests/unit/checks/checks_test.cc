#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "checks/builtin.h"
#include "checks/check.h"
#include "checks/program_answer.h"
#include "machine/memory_left.h"
#include "metrics/line_pattern.h"
#include "recipe/checks.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

CheckPlace place_with(const std::string& path) {
  CheckPlace place;
  place.environment = {{"PATH", path}, {"TMPDIR", "/tmp"}};
  place.directory = "/tmp";
  place.companion = SABATH_PROGRAM;
  place.inside = place.by_launcher = [](std::vector<std::string> argv) { return argv; };
  return place;
}

CheckFound::State state_of(const std::string& name, const std::string& relation, const std::string& bound) {
  RecipeCheck check;
  check.name = name;
  check.relation = relation;
  check.bound = bound;
  return perform_builtin(check, place_with("/usr/bin:/bin")).outcome.state;
}

TEST(LinePatterns, AreATextOrAnExpression) {
  EXPECT_TRUE(LinePattern("[X] MPI").is_in("    [X] MPI"));
  EXPECT_FALSE(LinePattern("[X] MPI").is_in("    [ ] MPI"));
  EXPECT_TRUE(LinePattern("\\[X\\] MPI$").is_in("    [X] MPI"));
  EXPECT_FALSE(LinePattern("\\[X\\] MPI$").is_in("    [X] MPI or not"));
  EXPECT_TRUE(LinePattern("^v[0-9]+").is_in("v12"));
  EXPECT_FALSE(LinePattern("x").is_in(""));
}

TEST(LinePatterns, AreBounded) {
  const std::string line(answer_bytes_kept, 'a');
  const auto begin = std::chrono::steady_clock::now();
  for (const char* pattern : {"(a*)*b", "(a|aa)+$b", "(.*)(.*)(.*)(.*)b", "a{900}b"})
    EXPECT_FALSE(LinePattern(pattern).is_in(line)) << pattern;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  for (const std::string& pattern : {std::string("("), std::string("a{1000}{1000}"), std::string("\\1"),
                                     std::string(1001, 'a'), std::string("(?=a)"), std::string("\xff")}) {
    EXPECT_THROW(LinePattern{pattern}, Error) << pattern;
  }
}

TEST(Bounds, AreCompared) {
  RecipeCheck check;
  EXPECT_TRUE(meets_version(check, ""));
  check.relation = ">=";
  check.bound = "2.10";
  EXPECT_TRUE(meets_version(check, "2.10.1"));
  EXPECT_FALSE(meets_version(check, "2.9"));
  EXPECT_FALSE(meets_version(check, ""));
  struct Row {
    const char* relation;
    bool less, same, more;
  };
  for (const Row& row : {Row{">=", false, true, true}, Row{"<=", true, true, false}, Row{"==", false, true, false},
                         Row{">", false, false, true}, Row{"<", true, false, false}, Row{"", true, true, true}}) {
    check.relation = row.relation;
    EXPECT_EQ(meets_number(check, 1, 2), row.less) << row.relation;
    EXPECT_EQ(meets_number(check, 2, 2), row.same) << row.relation;
    EXPECT_EQ(meets_number(check, 3, 2), row.more) << row.relation;
  }
}

TEST(Builtins, AreThoseThatRecipesMayName) {
  for (const BuiltinCheckName& each : builtin_check_names()) {
    RecipeCheck check;
    check.name = each.name;
    const CheckResult result = perform_builtin(check, place_with("/nowhere"));
    EXPECT_FALSE(result.outcome.found.empty()) << each.name;
    EXPECT_FALSE(result.outcome.known_by.empty()) << each.name;
    EXPECT_EQ(result.outcome.remedy.empty(), result.met()) << each.name;
    if (each.name.starts_with("ucx") || each.name == "mpi.cuda_aware" || each.name == "horovod") {
      EXPECT_EQ(result.outcome.state, CheckFound::State::not_known) << each.name;
    }
  }
}

TEST(Builtins, OfTheNode) {
  EXPECT_EQ(state_of("memory", ">=", "1MB"), CheckFound::State::met);
  EXPECT_EQ(state_of("memory", ">=", "900TB"), CheckFound::State::not_met);
  EXPECT_EQ(state_of("disk.local", ">=", "900TB"), CheckFound::State::not_met);
}

TEST(Memory, OfControlGroupsCountsWhateverIsUsed) {
  const fs::path root = fs::path(::testing::TempDir()) / "sabath-memory-whole";
  fs::create_directories(root / "proc/self");
  fs::create_directories(root / "groups/job/step");
  const auto write = [&](const char* name, const char* text) { std::ofstream(root / name) << text; };
  write("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    400 kB\n");
  write("proc/self/cgroup", "0::/job/step\n");
  EXPECT_EQ(memory_whole(root / "proc", root / "groups")->bytes, 1000U * 1024);
  write("groups/job/step/memory.max", "max\n");
  write("groups/job/memory.max", "300000\n");
  const auto whole = memory_whole(root / "proc", root / "groups");
  EXPECT_EQ(whole->bytes, 300'000U);
  EXPECT_EQ(whole->by, "cgroup memory.max of /job");
  write("groups/job/memory.current", "200000\n");
  EXPECT_EQ(memory_left(root / "proc", root / "groups")->bytes, 100'000U);
  EXPECT_EQ(memory_whole(root / "proc", root / "groups")->bytes, 300'000U);
  fs::remove_all(root);
  EXPECT_FALSE(memory_whole(root / "proc", root / "groups"));
}

TEST(Programs, AreBounded) {
  const CheckPlace place = place_with("/usr/bin:/bin");
  CheckAsked asked{.argv = {"sh", "-c", "yes; sleep 100"},
                   .environment = place.environment,
                   .directory = "/tmp",
                   .companion = place.companion,
                   .patience = std::chrono::milliseconds(300)};
  const CheckAnswer answer = ask_program(asked, {});
  EXPECT_TRUE(answer.late);
  EXPECT_EQ(answer.out.size(), answer_bytes_kept);
  EXPECT_EQ(trouble_of(answer, asked), "it did not end within 0.3 s");
  EXPECT_TRUE(answer.cut);
  asked.keep = 6;
  asked.patience = std::chrono::seconds(20);
  for (const auto& [printed, kept] : {std::pair("ab\\nGOOD\\n", "ab\n"), std::pair("ab\\nGO\\n", "ab\nGO\n"),
                                      std::pair("ab\\nGOO", "ab\nGOO"), std::pair("GOODGOOD", "")}) {
    asked.argv = {"printf", printed};
    EXPECT_EQ(ask_program(asked, {}).out, kept) << printed;
  }
  asked.keep = answer_bytes_kept;
  asked.argv = {"no-such-program"};
  EXPECT_NE(ask_program(asked, {}).not_started, "");
  asked.argv = {"sh", "-c", "echo a; echo 'b\033[2Jc' >&2; exit 3"};
  EXPECT_EQ(trouble_of(ask_program(asked, {}), asked), "exit status 3: b\\x1b[2Jc");
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(static_cast<void>(ask_program(asked, source.get_token())), Error);
}

}  // namespace
}  // namespace sabath
