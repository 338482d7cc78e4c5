#include "conda/conda_notes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "conda/conda_package.h"
#include "conda/conda_place.h"
#include "sabath/error.h"

namespace sabath {
namespace {

std::string paths_text(const std::string& row) {
  return fmt::format(R"({{"paths_version": 1, "paths": [{{{}}}]}})", row);
}

TEST(CondaNotes, AreRead) {
  const auto paths = parse_conda_paths(
      paths_text(
          R"("_path": "bin/x", "path_type": "hardlink", "size_in_bytes": 3, "file_mode": "binary", "no_link": true,
        "prefix_placeholder": "/opt/placeholder", "sha256": ")" +
          std::string(64, 'a') + '"'),
      "paths.json");
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].path, "bin/x");
  EXPECT_EQ(paths[0].placeholder, "/opt/placeholder");
  EXPECT_TRUE(paths[0].is_binary);
  EXPECT_EQ(paths[0].size_bytes, 3U);
  const CondaRecord record = parse_conda_record(
      R"({"name": "flute", "version": "1.2", "build": "h0_0", "channel": "https://me:secret@host/t/tk-1/c/linux-64",
        "size": 7, "requested_spec": "flute", "paths_data": {"paths_version": 1, "paths": []}})",
      "flute.json");
  EXPECT_EQ(record.build, "h0_0");
  EXPECT_THAT(record.channel, testing::AllOf(testing::EndsWith("/c"), testing::Not(testing::HasSubstr("tk-1")),
                                             testing::Not(testing::HasSubstr("secret"))));
  EXPECT_EQ(record.size_bytes, 7U);
  EXPECT_TRUE(
      parse_conda_index(R"({"name": "a", "version": "1", "build": "0", "noarch": "python"})", "i").is_noarch_python);
  EXPECT_FALSE(
      parse_conda_index(R"({"name": "a", "version": "1", "build": "0", "noarch": "generic"})", "i").is_noarch_python);
  EXPECT_THAT(parse_conda_entry_points(R"({"noarch": {"type": "python", "entry_points": ["a = b:c"]}})", "l"),
              testing::ElementsAre("a = b:c"));
}

TEST(CondaNotes, OfStrangersAreRefused) {
  const std::vector<std::pair<std::string, const char*>> rows{
      {R"("_path": "../x")", "_path"},
      {R"("_path": "/etc/x")", "_path"},
      {R"("_path": "a//b")", "_path"},
      {R"("_path": "x", "path_type": "device")", "path_type"},
      {R"("_path": "x", "sha256": "abc")", "sha256"},
      {R"("_path": "x", "sha256": ")" + std::string(64, 'g') + '"', "sha256"},
      {R"("_path": "x", "prefix_placeholder": "/")", "prefix_placeholder"},
      {R"("_path": "x", "prefix_placeholder": "relative/place")", "prefix_placeholder"},
      {R"("_path": "x", "prefix_placeholder": "/two\nlines/of")", "prefix_placeholder"},
      {R"("_path": "x", "prefix_placeholder": "/)" + std::string(1100, 'p') + '"', "prefix_placeholder"},
      {R"("_path": "x", "prefix_placeholder": "/placeholder", "file_mode": "other")", "file_mode"},
      {R"("_path": "x", "path_type": "softlink", "prefix_placeholder": "/placeholder")", "prefix_placeholder"},
  };
  for (const auto& [row, word] : rows) try {
      static_cast<void>(parse_conda_paths(paths_text(row), "paths.json"));
      ADD_FAILURE() << row;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(word)) << row;
    }
  EXPECT_THROW(static_cast<void>(parse_conda_paths(R"({"paths_version": 2, "paths": []})", "p")), Error);
  EXPECT_THROW(static_cast<void>(parse_conda_index(R"({"name": "a\nb", "version": "1", "build": "0"})", "i")), Error);
  EXPECT_THROW(static_cast<void>(parse_conda_entry_points(R"({"noarch": {"entry_points": ["a = b:c\n[x]"]}})", "l")),
               Error);
}

TEST(CondaPlaces, OfNoarchPackagesAreTheInterpreters) {
  const CondaIndex noarch{"a", "1", "0", true}, other{"a", "1", "0", false};
  EXPECT_EQ(place_in_prefix(noarch, "site-packages/a/b.py", "python3.11"), "lib/python3.11/site-packages/a/b.py");
  EXPECT_EQ(place_in_prefix(noarch, "python-scripts/a", "python3.11"), "bin/a");
  EXPECT_EQ(place_in_prefix(noarch, "share/a", "python3.11"), "share/a");
  EXPECT_EQ(place_in_prefix(other, "site-packages/a", "python3.11"), "site-packages/a");
}

TEST(CondaPlaces, ThatTextsWouldReadOtherwiseAreRefused) {
  EXPECT_EQ(checked_place("/local/disk/horn-1.2_x/"), "/local/disk/horn-1.2_x");
  EXPECT_EQ(checked_place(""), "");
  for (const char* place : {"relative", "/", "/a/../b", "/a/./b", "/a//b", "/a b", "/a\nb", "/a'b", "/a\"b", "/a$b",
                            "/a`b", "/a;b", "/a:b", "/a\\b", "/a\xc3\xa4"})
    EXPECT_THROW(static_cast<void>(checked_place(place)), Error) << place;
  EXPECT_THROW(static_cast<void>(checked_place("/" + std::string(2000, 'a'))), Error);
}

}  // namespace
}  // namespace sabath
