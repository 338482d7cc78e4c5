#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "run/output_files.h"
#include "run/run_directory.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(OutputFiles, PlainOutputIsKeptAsItIs) {
  const test::TempDir home;
  RunDirectory directory(home / "run");
  OutputFiles files(directory, "stdout", false);
  const std::string bytes = std::string("[1,0]<stdout>:a\r\nb\0c\xff", 22);
  for (const char c : bytes) files.take(std::string_view(&c, 1));
  files.finish();
  EXPECT_EQ(read(home / "run/output/stdout"), bytes);
}

TEST(OutputFiles, TaggedLinesAreDealtByRankHoweverTheyAreCut) {
  const std::string text = "[1,0]<stdout>:one\n[1,11]<stdout>:" + std::string(300, 'x') +
                           "\nno rank\n[1,0]<stdout>:\n[1,11]<stdout>:the end";
  for (const std::size_t cut : {1u, 2u, 7u, 63u, 64u, 65u, 1000u}) {
    const test::TempDir home;
    RunDirectory directory(home / "run");
    OutputFiles files(directory, "stdout", true);
    for (std::size_t at = 0; at < text.size(); at += cut) files.take(std::string_view(text).substr(at, cut));
    files.finish();
    EXPECT_EQ(read(home / "run/output/stdout.0"), "one\n\n") << cut;
    EXPECT_EQ(read(home / "run/output/stdout.11"), std::string(300, 'x') + "\nthe end") << cut;
    EXPECT_EQ(read(home / "run/output/stdout"), "no rank\n") << cut;
  }
}

TEST(OutputFiles, LastLinesAreFitForATerminal) {
  const test::TempDir home;
  RunDirectory directory(home / "run");
  OutputFiles files(directory, "stderr", false);
  for (int i = 0; i < 100; ++i) files.take("line " + std::to_string(i) + "\n");
  files.take("\x1b[31mred\x1b[0m\n" + std::string(1 << 20, 'y'));
  files.finish();
  ASSERT_GE(files.last_lines().size(), 10u);
  ASSERT_LE(files.last_lines().size(), 20u);
  EXPECT_LE(files.last_lines().back().size(), 500u);
  EXPECT_EQ(files.last_lines()[files.last_lines().size() - 2], "\\x1b[31mred\\x1b[0m");
}

TEST(RunDirectory, IsNeverWrittenOver) {
  const test::TempDir home;
  { RunDirectory directory(home / "run"); }
  try {
    RunDirectory again(home / "run");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
  }
}

}  // namespace
}  // namespace sabath
