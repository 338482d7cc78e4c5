#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "run/output_files.h"
#include "run/rank_streams.h"
#include "run/run_directory.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The stream of each rank; "-": of no rank.
std::map<std::string, std::string> streams_of(std::string_view text, std::size_t cut, bool tagged = true) {
  std::map<std::string, std::string> streams;
  RankStreams ranks(tagged, [&](std::optional<int> rank, std::string_view bytes) {
    streams[rank ? std::to_string(*rank) : "-"] += bytes;
  });
  for (std::size_t at = 0; at < text.size(); at += cut) ranks.take(text.substr(at, cut));
  ranks.finish();
  return streams;
}

using Streams = std::map<std::string, std::string>;

TEST(RankStreams, PlainOutputIsLeftAsItIs) {
  const std::string bytes("[1,0]<stdout>:a\r\nb\0c\xff", 22);
  EXPECT_EQ(streams_of(bytes, 1, false), (Streams{{"-", bytes}}));
}

TEST(RankStreams, LinesAreDealtByTheirTagHoweverTheyAreCut) {
  const std::string x(300, 'x');
  const std::string text =
      "[1,0]<stdout>:one\n[1,11]<stdout>:" + x + "\nno rank\n[1,0]<stderr>:\n[1,11]<stdout>:the end";
  for (const std::size_t cut : {1u, 2u, 7u, 47u, 48u, 49u, 1000u}) {
    EXPECT_EQ(streams_of(text, cut), (Streams{{"0", "one\n\n"}, {"11", x + "\nthe end"}, {"-", "no rank\n"}})) << cut;
  }
}

TEST(RankStreams, TagsOfOtherLaunchers) {
  EXPECT_EQ(streams_of("0: a\n 1: b: c\n0: d\n", 3), (Streams{{"0", "a\nd\n"}, {"1", "b: c\n"}}));
}

// What a rank prints is its own, also if it looks like the tag of another one.
TEST(RankStreams, NoRankSpeaksForAnotherOneWhereThatCounts) {
  const std::string text =
      "[1,0]<stdout>:[1,1]<stdout>:GOOD\n[1,0]<stdout>:GO[1,0]<stdout>:OD\n[1,0]<stdout>:x[1,1]<stdout>:GOOD\n";
  for (const std::size_t cut : {1u, 3u, 14u, 1000u}) {
    Streams streams;
    RankStreams ranks(
        true,
        [&](std::optional<int> rank, std::string_view bytes) { streams[rank ? std::to_string(*rank) : "-"] += bytes; },
        RankStreams::Inside::of_its_rank);
    for (std::size_t at = 0; at < text.size(); at += cut) ranks.take(std::string_view(text).substr(at, cut));
    ranks.finish();
    EXPECT_EQ(streams, (Streams{{"0", "[1,1]<stdout>:GOOD\nGOOD\nx[1,1]<stdout>:GOOD\n"}})) << cut;
  }
}

// As Open MPI passes on what was written in two pieces, from ranks that write at once.
TEST(RankStreams, PartsOfALineBelongTogetherByRank) {
  const std::string text =
      "[1,0]<stdout>:loss: 0.[1,1]<stdout>:loss: 0.[1,0]<stdout>:5\n[1,1]<stdout>:7\n[1,0]<stdout>:end\n";
  for (const std::size_t cut : {1u, 3u, 14u, 1000u}) {
    EXPECT_EQ(streams_of(text, cut), (Streams{{"0", "loss: 0.5\nend\n"}, {"1", "loss: 0.7\n"}})) << cut;
  }
  EXPECT_EQ(streams_of("[1,0]<stdout>:a[1]b[1,x]c[1,2]<stdin>:d\n", 1),
            (Streams{{"0", "a[1]b[1,x]c[1,2]<stdin>:d\n"}}));
  EXPECT_EQ(streams_of("[1,0]<stdout>:a[1,2]<std", 1), (Streams{{"0", "a[1,2]<std"}}));
}

TEST(OutputFiles, LastLinesAreFitForATerminal) {
  const test::TempDir home;
  RunDirectory directory(home / "run");
  OutputFiles files(directory, "stderr");
  for (int i = 0; i < 100; ++i) files.write(0, "line " + std::to_string(i) + "\n");
  files.write({}, "\x1b[31mred\x1b[0m\n" + std::string(1 << 20, 'y'));
  files.finish();
  ASSERT_GE(files.last_lines().size(), 10u);
  ASSERT_LE(files.last_lines().size(), 40u);
  EXPECT_LE(files.last_lines().back().size(), 500u);
  EXPECT_EQ(read(home / "run/output/stderr.0").substr(0, 14), "line 0\nline 1\n");
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
