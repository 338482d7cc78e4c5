#include "recipe/file_list.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sabath/error.h"

namespace sabath {
namespace {

using namespace std::string_literals;

const Url list_url = Url::parse("https://a.example/d/list.txt?sig=secret");

std::string error_of(const std::string& text, const Url& list = list_url) {
  try {
    (void)parse_file_list(text, list, std::nullopt);
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    EXPECT_EQ(error.failure().message.find("secret"), std::string::npos) << error.what();
    return error.failure().message;
  }
  return {};
}

TEST(FileList, TakesUrlsAndPaths) {
  const auto files = parse_file_list(
      "\xEF\xBB\xBF# comment\n\nhttps://b.example/x/one.npy?t=1\r\n  http://b.example/two%20.npy \nsub dir/50%#?.npy\n "
      " # more\nlast",
      list_url, {});
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].path.text(), "one.npy");
  EXPECT_EQ(files[0].urls.front().text(), "https://b.example/x/one.npy?t=1");
  EXPECT_EQ(files[1].path.text(), "two .npy");
  EXPECT_EQ(files[2].path.text(), "sub dir/50%#?.npy");
  EXPECT_EQ(files[2].urls.front().text(), "https://a.example/d/sub%20dir/50%25%23%3F.npy");
  EXPECT_EQ(files[3].urls.front().text(), "https://a.example/d/last");
}

TEST(FileList, TakesTheFirstOnly) {
  EXPECT_EQ(parse_file_list("a\nb\nc\n", list_url, 2).size(), 2u);
  EXPECT_EQ(parse_file_list("a\nb\n../c\n", list_url, 2).size(), 2u) << "what lies beyond the limit is not looked at";
  EXPECT_EQ(parse_file_list("a\n", list_url, 100).size(), 1u);
}

TEST(FileList, AColonAloneMakesNoUrl) {
  const auto files =
      parse_file_list("2024-01-01T00:00:00.h5\nT12:30.h5\nurn:x/a\nhttps:b\nhttps://a.example/c\n", list_url, {});
  ASSERT_EQ(files.size(), 5u);
  EXPECT_EQ(files[0].path.text(), "2024-01-01T00:00:00.h5");
  EXPECT_EQ(files[0].urls.front().text(), "https://a.example/d/2024-01-01T00%3A00%3A00.h5");
  EXPECT_EQ(files[1].urls.front().text(), "https://a.example/d/T12%3A30.h5");
  EXPECT_EQ(files[2].path.text(), "urn:x/a");
  EXPECT_EQ(files[3].path.text(), "https:b");
  EXPECT_EQ(files[4].path.text(), "c");
}

TEST(FileList, RefusesTheHostileByLine) {
  for (const std::string& line : {"../up"s,
                                  "a/../../b"s,
                                  "/etc/passwd"s,
                                  "./a"s,
                                  "a//b"s,
                                  "a/"s,
                                  "a\0b"s,
                                  "a\x1B[m"s,
                                  "a\xC2\x9B"s,
                                  "a\xFF"s,
                                  "file:///etc/passwd"s,
                                  "FILE:///etc/passwd"s,
                                  "ftp://b.example/f"s,
                                  "s3://b/f"s,
                                  "https://b.example/"s,
                                  "https://b.example"s,
                                  "https://b.example/%2e%2e"s,
                                  "https://b.example/a%2Fb"s,
                                  "https://b.example/a%00b"s,
                                  "https://b.example/a%1bb"s,
                                  "https://user:secret@b.example/f"s,
                                  "https://b.example/a b"s,
                                  "//b.example/f"s,
                                  std::string(256, 'x'),
                                  "ok"s,
                                  "https://b.example/ok"s}) {
    const std::string message = error_of("# first\nok\n" + line + "\n");
    EXPECT_TRUE(message.starts_with("https://a.example/d/list.txt:3: "))
        << testing::PrintToString(line) << ": " << message;
  }
  EXPECT_EQ(error_of("ok\nok\n"), "https://a.example/d/list.txt:2: \"ok\" appears twice, first in line 1");
  EXPECT_EQ(error_of("d/f\nx\nd\n"), "https://a.example/d/list.txt:1: \"d\" is already a file");
  EXPECT_NE(error_of("a\n" + std::string(8193, ' ') + "\n"), "");
  EXPECT_EQ(error_of("a\n" + std::string(8192, ' ') + "\n"), "");
  EXPECT_NE(error_of(""), "");
  EXPECT_NE(error_of("# nothing\n\n"), "");
}

TEST(FileList, KeepsToItsFamilyOfSchemes) {
  const Url local = Url::parse("file:///data/list.txt");
  EXPECT_EQ(error_of("file:///data/f\nhttps://b.example/g\n", local), "") << "a local list is the user's own";
  EXPECT_EQ(error_of("s3://bucket/f\n", Url::parse("s3://bucket/list")), "");
  EXPECT_NE(error_of("https://b.example/f\n", Url::parse("s3://bucket/list")), "");
  EXPECT_EQ(error_of("https://b.example/f\n", Url::parse("http://a.example/list")), "");
}

TEST(FileList, ReadsARealList) {
  const char* data = std::getenv("SABATH_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SABATH_TEST_DATA does not name a directory with autophasenn/aicdi_data.txt.gz";
  const std::string command =
      "gzip -dc '" + (std::filesystem::path(data) / "autophasenn/aicdi_data.txt.gz").native() + "'";
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text(4'000'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe));
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(text.size(), 3'420'550u);
  const Url list = Url::parse("https://raw.githubusercontent.com/YudongYao/AutoPhaseNN/main/TF2/aicdi_data.txt");
  const auto files = parse_file_list(text, list, std::nullopt);
  ASSERT_EQ(files.size(), 54'028u);
  EXPECT_EQ(files[0].path.text(), "1_c0_0_32.npy");
  EXPECT_EQ(files[0].urls.front().text(), "https://hchan.data.nst.anl.gov/aicdi_data_set1/1_c0_0_32.npy");
  EXPECT_EQ(parse_file_list(text, list, 100).size(), 100u);
}

}  // namespace
}  // namespace sabath
