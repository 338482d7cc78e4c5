#include "jobs/script_word.h"

#include <gtest/gtest.h>

#include "base/process.h"
#include "sabath/error.h"

namespace sabath::test {
namespace {

const std::vector<std::string> hostile{
    "",
    " ",
    "a b",
    "a\nb",
    "x\n#SBATCH --nodes=99\n",
    "#SBATCH --nodes=99",
    "#flux: -N9",
    "line\r\n",
    "$(touch /tmp/sabath-was-here)",
    "`id`",
    "${HOME}",
    "$HOME",
    "it's",
    "'; rm -rf x; '",
    "\"quoted\"",
    "back\\slash",
    "!history",
    "~root",
    "*",
    "[a-z]",
    "{a,b}",
    "a=b",
    "-n",
    "--option=x",
    "@name@",
    "@steps@",
    "tab\there",
    "caf\xC3\xA9",
    "right\xE2\x80\xAEto left",
    "not \xFF utf-8",
    "\x01\x1B[31m\x7F",
    "&& true",
    "a;b|c>d<e",
    "%j",
    "a#b",
};

TEST(ScriptWord, IsReadByBashAsWhatItStandsFor) {
  for (const std::string& text : hostile) {
    const std::string word = script_word(text);
    const auto result = run_command(
        {.argv = {"bash", "-c", "printf %s " + word + "; printf ."}, .environment = {}, .directory = {}}, {});
    EXPECT_EQ(result.out, text + ".") << word;
  }
}

TEST(ScriptWord, StandsOnOneLineAndLooksLikeNothingElse) {
  for (const std::string& text : hostile) {
    const std::string word = script_word(text);
    for (const char c : word) EXPECT_TRUE(c >= ' ' && c <= '~') << word;
    EXPECT_NE(word.front(), '#') << word;
    EXPECT_EQ(word.find("@name@"), word.npos) << word;
    EXPECT_EQ(word.find("@steps@"), word.npos) << word;
  }
}

TEST(ScriptWord, KeepsPlainWordsAsTheyAre) {
  EXPECT_EQ(script_word("/data/set-1/x_2.json"), "/data/set-1/x_2.json");
  EXPECT_EQ(script_words({"sabath", "run", "net", "--set", "lr=0.1"}), "sabath run net --set 'lr=0.1'");
  EXPECT_EQ(script_words({}), "");
}

TEST(ScriptWord, RefusesWhatNoCommandTakes) {
  EXPECT_THROW(static_cast<void>(script_word(std::string("a\0b", 3))), Error);
  EXPECT_THROW(static_cast<void>(script_word(std::string(script_word_bytes_max + 1, 'a'))), Error);
}

TEST(DirectiveWord, IsRefusedWhereItWouldHaveToBeQuoted) {
  for (const std::string& text : hostile) {
    if (text == "a=b") continue;
    EXPECT_THROW(static_cast<void>(directive_word("partition", text)), Error) << text;
  }
  EXPECT_EQ(directive_word("partition", "gpu_a100"), "gpu_a100");
  EXPECT_EQ(directive_word("account", "p1234,other"), "p1234,other");
  EXPECT_THROW(static_cast<void>(directive_word("account", std::string(1000, 'a'))), Error);
}

TEST(JobLabel, IsAlwaysADirectiveWord) {
  for (const std::string& text : hostile) {
    const std::string label = job_label(text);
    EXPECT_EQ(directive_word("name", label), label);
  }
  EXPECT_EQ(job_label("lab/net"), "lab_net");
}

}  // namespace
}  // namespace sabath::test
