#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/counted.h"
#include "base/text.h"

namespace sabath {
namespace {

TEST(Text, FormatsBytes) {
  const std::pair<std::uint64_t, const char*> table[] = {{0, "0 B"},
                                                         {999, "999 B"},
                                                         {1000, "1.00 kB"},
                                                         {9994, "9.99 kB"},
                                                         {9996, "10.0 kB"},
                                                         {999'499, "999 kB"},
                                                         {999'500, "1.00 MB"},
                                                         {5'943'306'240, "5.94 GB"},
                                                         {99'950'000, "100 MB"},
                                                         {1'700'000'000'000, "1.70 TB"},
                                                         {std::numeric_limits<std::uint64_t>::max(), "18.4 EB"}};
  for (const auto& [bytes, text] : table) EXPECT_EQ(format_bytes(bytes), text) << bytes;
}

TEST(Text, Counts) {
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(2, "bad chunk"), "2 bad chunks");
  EXPECT_EQ(counted(1, "repository", "repositories"), "1 repository");
  EXPECT_EQ(counted(2, "repository", "repositories"), "2 repositories");
}

TEST(Text, FormatsDurations) {
  EXPECT_EQ(format_duration(0.04), "40 ms");
  EXPECT_EQ(format_duration(4.25), "4.2 s");
  EXPECT_EQ(format_duration(9.97), "10 s");
  EXPECT_EQ(format_duration(59.6), "1 m 00 s");
  EXPECT_EQ(format_duration(1264), "21 m 04 s");
  EXPECT_EQ(format_duration(3600), "1 h 00 m");
  EXPECT_EQ(format_duration(86400 * 2 + 3600 * 3), "2 d 03 h");
  EXPECT_EQ(format_duration(-1), "?");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "?");
}

TEST(Text, ParsesSizes) {
  const std::pair<const char*, std::uint64_t> table[] = {{"0", 0},
                                                         {"10", 10},
                                                         {"10B", 10},
                                                         {"4k", 4000},
                                                         {"4K", 4000},
                                                         {"4KiB", 4096},
                                                         {"2.5MiB", 2621440},
                                                         {"1GB", 1000000000},
                                                         {" 1 GB ", 1000000000},
                                                         {"0.5k", 500},
                                                         {"16EiB", 0},
                                                         {"1.5e", 1500000000000000000}};
  for (const auto& [text, size] : table) {
    if (size == 0 && std::string(text) != "0") {
      EXPECT_FALSE(parse_size(text)) << text;
    } else {
      EXPECT_EQ(parse_size(text), size) << text;
    }
  }
  for (const char* text : {"", "k", "-1", "1.", ".5k", "1x", "1 kk", "0x10", "1.5", "99999999999999999999", "1e9",
                           "18446744073709551615k", "1,5k"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(Text, FindsTheNearestWord) {
  const std::vector<std::string> words{"checksum", "urls", "size", "CosmoFlow", "dataset"};
  EXPECT_EQ(nearest("checksun", words), "checksum");
  EXPECT_EQ(nearest("chekcsum", words), "checksum") << "a swap counts once";
  EXPECT_EQ(nearest("cosmoflw", words), "CosmoFlow") << "case does not count";
  EXPECT_EQ(nearest("dataest", words), "dataset");
  EXPECT_EQ(nearest("url", words), "urls");
  EXPECT_FALSE(nearest("xy", words));
  EXPECT_FALSE(nearest("completely", words));
  EXPECT_FALSE(nearest("", words));
  EXPECT_FALSE(nearest(std::string(100000, 'a'), words));
  EXPECT_FALSE(nearest("word", std::vector<std::string>{}));
}

TEST(Text, KnowsUtf8) {
  for (const char* text :
       {"", "ascii", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8C\x8C", "\xEF\xBB\xBF", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_utf8(text));
  for (const char* text : {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "a\xFF"})
    EXPECT_FALSE(is_utf8(text));
}

TEST(Text, SmallThings) {
  EXPECT_EQ(to_hex(std::array<std::uint8_t, 3>{0, 0xAB, 0x7F}), "00ab7f");
  EXPECT_EQ(to_lower("ABC\xC3\x89z"), "abc\xC3\x89z");
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, WholeNumbersAreDigitsOnly) {
  EXPECT_EQ(try_whole_number("0"), 0U);
  EXPECT_EQ(try_whole_number("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "18446744073709551616"}) {
    EXPECT_FALSE(try_whole_number(text)) << text;
  }
}

TEST(Clock, MillisecondsOfWhatIsNoTimeAreNone) {
  EXPECT_EQ(to_milliseconds(1.2345), 1235);
  EXPECT_EQ(to_milliseconds(-0.5), -500);
  EXPECT_EQ(to_milliseconds(1e300), 0);
  EXPECT_EQ(to_milliseconds(std::nan("")), 0);
}

TEST(ShellWord, IsOneWord) {
  EXPECT_EQ(shell_word("/a/b-c_1.json"), "/a/b-c_1.json");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("x; rm -rf ~"), "'x; rm -rf ~'");
  EXPECT_EQ(shell_word("$(x)`y`"), "'$(x)`y`'");
  EXPECT_EQ(shell_word("-rf"), "./'-rf'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a\nb").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace sabath
