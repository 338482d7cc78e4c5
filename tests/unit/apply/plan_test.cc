#include "apply/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "apply/finished.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "sabath/event.h"

namespace sabath {
namespace {

SupportingScript script() {
  SupportingScript script;
  script.id = "scale";
  script.arguments = {{"by", ArgumentType::number, "2", "", {}},
                      {"n", ArgumentType::integer, std::nullopt, "", {}},
                      {"loud", ArgumentType::flag, "false", "", {}},
                      {"how", ArgumentType::text, "a", "", {"a", "b"}}};
  script.argv = {"run", "{source}/x", "{input}", "{output}/{stem}-{arg.n}", "{name}", "{num_threads}", "{{input}}"};
  script.inputs = {"**/*.csv"};
  script.outputs = {"**"};
  return script;
}

std::string refusal(const std::vector<std::string>& words) {
  try {
    (void)resolve_arguments(script(), words);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
    return error.failure().message;
  }
}

Entry file(const std::string& path, std::uint64_t size) {
  return {RelativePath::parse(path), EntryType::file, {ContentKind::file, size, sha256(path)}, 0, ""};
}

TEST(Arguments, HaveOneForm) {
  const auto given = resolve_arguments(script(), {"n=007", "by=2.50", "loud=yes"});
  EXPECT_EQ(given, (ScriptArguments{{"by", "2.5"}, {"how", "a"}, {"loud", "true"}, {"n", "7"}}));
  EXPECT_EQ(resolve_arguments(script(), {"n=-1", "how=b"}).at("n"), "-1");
}

TEST(Arguments, AreRefusedWithTheReason) {
  EXPECT_EQ(refusal({"n=1"}), "");
  EXPECT_NE(refusal({}).find("n must be given"), std::string::npos);
  EXPECT_NE(refusal({"n=1", "n=2"}).find("twice"), std::string::npos);
  EXPECT_NE(refusal({"n=1", "bye=2"}).find("did you mean by"), std::string::npos);
  EXPECT_NE(refusal({"n=1.5"}).find("no int"), std::string::npos);
  EXPECT_NE(refusal({"n=1", "by=inf"}).find("no float"), std::string::npos);
  EXPECT_NE(refusal({"n=1", "by=nan"}).find("no float"), std::string::npos);
  EXPECT_NE(refusal({"n=1", "how=c"}).find("of a, b"), std::string::npos);
  EXPECT_NE(refusal({"n"}).find("KEY=VALUE"), std::string::npos);
  EXPECT_NE(refusal({"n=99999999999999999999"}).find("no int"), std::string::npos);
  EXPECT_NE(refusal({"n=1", "how=\x01"}).find("no plain text"), std::string::npos);
}

// docs/apply.md has it.
TEST(Key, IsCanonicalJson) {
  ScriptStep step;
  step.script.id = "gzip";
  step.script.arguments = {{"level", ArgumentType::integer, "6", "", {}}};
  step.script.inputs = step.script.outputs = {"**"};
  step.arguments = {{"level", "6"}};
  step.tools = {{"gzip", "1"}};
  const std::string text = key_text(step, Sha256{}, false);
  EXPECT_EQ(
      text,
      R"({"arguments":{"level":6},"in_place":false,"input":"sha256:)" + std::string(64, '0') +
          R"(","schema":1,"script":{"argv":[],"id":"gzip","inputs":["**"],"outputs":["**"],"per":"file","root":null},)"
          R"("tools":{"gzip":"1"}})");
  EXPECT_EQ(sha256(text).hex(), "99c07995d658f0a7caa493d621cca6efaae1cf39cef361c8dc1f21a1ec09a53a");
}

TEST(Key, ChangesWithEachPart) {
  std::set<std::string> keys;
  ScriptStep step{script(), {{"n", "1"}}, "", {{"run", "1"}}};
  const auto add = [&] { EXPECT_TRUE(keys.insert(key_text(step, Sha256{}, false)).second); };
  add();
  step.arguments["n"] = "2";
  add();
  step.script_root = "sha256:1";
  add();
  step.tools["run"] = "2";
  add();
  step.script.argv.push_back("x");
  add();
  EXPECT_TRUE(keys.insert(key_text(step, sha256("x"), false)).second);
  EXPECT_TRUE(keys.insert(key_text(step, Sha256{}, true)).second);
}

TEST(Command, IsFilledWordByWord) {
  const ScriptStep step{script(), {{"n", "7 8"}}, "", {}};
  const ScriptPlaces places{"/in/a.b.csv", "/out", "/in", "/code", "a.b.csv", "a.b", 3};
  EXPECT_EQ(filled(step, places),
            (std::vector<std::string>{"run", "/code/x", "/in/a.b.csv", "/out/a.b-7 8", "a.b.csv", "3", "{input}"}));
}

TEST(Dealing, GivesEachFileToOneRankAndIsEven) {
  std::vector<Entry> files;
  for (int i = 0; i < 200; ++i)
    files.push_back(file("f" + std::to_string(i), static_cast<std::uint64_t>(i * i) * 1000));
  for (const unsigned ranks : {1U, 2U, 7U, 300U}) {
    std::vector<int> times(files.size());
    std::vector<std::uint64_t> bytes;
    for (unsigned rank = 0; rank < ranks; ++rank) {
      std::uint64_t sum = 0;
      for (const std::size_t i : dealt_to(files, rank, ranks)) {
        ++times[i];
        sum += files[i].digest.size_bytes;
      }
      bytes.push_back(sum);
    }
    EXPECT_TRUE(std::ranges::all_of(times, [](int n) { return n == 1; })) << ranks;
    if (ranks == 7) {
      EXPECT_LT(*std::ranges::max_element(bytes), *std::ranges::min_element(bytes) * 11 / 10);
    }
  }
}

TEST(DerivedName, FitsAndIsAName) {
  EXPECT_EQ(derived_name("words", "gzip", Sha256{}), "words+gzip-000000000000");
  EXPECT_LE(derived_name(std::string(128, 'a'), std::string(128, 'b'), sha256("x")).size(), 128U);
}

TEST(Note, ComesBackAndNothingElseDoes) {
  std::vector<Output> outputs;
  outputs.push_back({RelativePath::parse("a/b"), hash_content(std::as_bytes(std::span("abc", 3))), true});
  outputs.push_back({RelativePath::parse("empty"), hash_content({}), false});
  const std::string note = encode_note(outputs);
  const auto back = try_decode_note(note);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 2U);
  EXPECT_EQ(back->front().path.text(), "a/b");
  EXPECT_EQ(back->front().tree.digest, outputs.front().tree.digest);
  EXPECT_TRUE(back->front().executable);
  EXPECT_EQ(back->back().tree.chunks.size(), 0U);
  for (std::size_t i = 0; i < note.size(); ++i) {
    std::string bad = note;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(try_decode_note(bad)) << i;
    EXPECT_FALSE(try_decode_note(note.substr(0, i))) << i;
  }
}

}  // namespace
}  // namespace sabath
