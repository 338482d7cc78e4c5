#include "sabath/verbs/inspect.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "ask.h"
#include "formats/inspect/inspect_format.h"
#include "formats/npy.h"
#include "site.h"

namespace sabath::test {
namespace {

TEST(InspectedFiles, AreToldBothWays) {
  Site site;
  Session session = site.open();
  NoEvents unheard;
  const std::string file = site / "a.npy";
  std::ofstream(file, std::ios::binary) << npy_header("<i2", {3}) << "abcdef";
  const InspectRecord record = inspect(session, {file}, unheard);
  EXPECT_EQ(record.format, "npy");
  ASSERT_EQ(record.arrays.size(), 1U);
  EXPECT_EQ(record.arrays[0].type, "<i2");
  EXPECT_EQ(record.arrays[0].shape, std::vector<std::uint64_t>{3});
  EXPECT_TRUE(record.code.empty());
  EXPECT_EQ(ask(session, "inspect", {{"file", file}}), to_json(record));
}

TEST(InspectedFiles, AreRefusedWithoutAName) {
  Site site;
  Session session = site.open();
  EXPECT_EQ(refusal(session, "inspect", {{"file", site / "nowhere"}}).kind, FailureKind::not_found);
}

TEST(InspectedFiles, HaveFormatsOfATable) {
  std::set<std::string_view> names;
  for (const InspectFormat* const format : inspect_formats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name;
    EXPECT_TRUE(format->is != nullptr || format->facts != nullptr) << format->name;
    EXPECT_EQ(format->is != nullptr, format->read != nullptr || format->by_program) << format->name;
    EXPECT_TRUE(format->endings.empty() || format->endings.starts_with('.')) << format->name;
  }
  EXPECT_EQ(inspect_format_named("a.nc4")->name, "hdf5");
  EXPECT_EQ(inspect_format_named("a.tfrecords")->name, "tfrecord");
  EXPECT_EQ(inspect_format_named("a.txt"), nullptr);
}

}  // namespace
}  // namespace sabath::test
