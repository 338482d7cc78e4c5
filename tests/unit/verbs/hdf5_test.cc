#include "sabath/verbs/hdf5.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>

#include "ask.h"
#include "site.h"

namespace sabath::test {
namespace {

// /x: ten numbers 0 to 9 in chunks of four that may grow, with an attribute; /again: a soft link to it.
class Hdf5Files : public ::testing::Test {
 protected:
  Hdf5Files() {
    const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t extent = 10, extent_max = H5S_UNLIMITED, chunk = 4;
    const hid_t space = H5Screate_simple(1, &extent, &extent_max);
    const hid_t storage = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(storage, 1, &chunk);
    H5Pset_deflate(storage, 1);
    const hid_t set = H5Dcreate2(id, "x", H5T_STD_I32LE, space, H5P_DEFAULT, storage, H5P_DEFAULT);
    int values[10];
    for (int i = 0; i < 10; ++i) values[i] = i;
    H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(set, "unit", H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT, &values[7]);
    H5Lcreate_soft("/x", id, "again", H5P_DEFAULT, H5P_DEFAULT);
    H5Aclose(attribute);
    H5Sclose(scalar);
    H5Dclose(set);
    H5Pclose(storage);
    H5Sclose(space);
    EXPECT_GE(H5Fclose(id), 0);
  }

  Site site;
  std::string file = site / "a.h5";
  Session session = [this] {
    site.settings.program = SABATH_PROGRAM;
    return site.open();
  }();
  NoEvents unheard;
};

TEST_F(Hdf5Files, AreInspected) {
  const Hdf5InspectRecord record = hdf5_inspect(session, {file}, unheard);
  ASSERT_EQ(record.objects.size(), 3U);
  EXPECT_EQ(record.objects_total, 3U);
  EXPECT_EQ(record.objects[0].kind, "group");
  EXPECT_EQ(record.objects[1].target, "/x");
  const Hdf5Object& x = record.objects[2];
  EXPECT_EQ(x.type, "int32");
  EXPECT_EQ(x.layout, "chunked");
  EXPECT_EQ(x.shape, std::vector<std::uint64_t>{10});
  EXPECT_EQ(x.shape_max, std::vector{std::optional<std::uint64_t>()});
  EXPECT_EQ(x.chunk, std::vector<std::uint64_t>{4});
  EXPECT_EQ(x.bytes, 40U);
  ASSERT_EQ(x.filters.size(), 1U);
  EXPECT_EQ(x.filters[0].name, "gzip");
  EXPECT_EQ(x.filters[0].values, std::vector<unsigned>{1});
  ASSERT_EQ(x.attributes.size(), 1U);
  EXPECT_EQ(x.attributes[0].name, "unit");
  EXPECT_EQ(x.attributes[0].value, "7");
  EXPECT_EQ(ask(session, "hdf5 inspect", {{"file", file}}), to_json(record));
}

TEST_F(Hdf5Files, ArePickedFrom) {
  const Hdf5SelectRequest request{
      .file = file, .selections = {"x[2:5]"}, .output = site / "part.h5", .blocks = {}, .source_digest = {}};
  Hdf5SelectRecord record = hdf5_select(session, request, unheard);
  EXPECT_EQ(record.bytes_selected, 12U);
  EXPECT_EQ(record.files, std::vector{site / "part.h5"});
  const Hdf5InspectRecord part = hdf5_inspect(session, {record.out}, unheard);
  EXPECT_EQ(part.objects.back().shape, std::vector<std::uint64_t>{3});
  EXPECT_EQ(part.objects.back().layout, "contiguous");

  const auto told = Site::Json::parse(
      ask(session, "hdf5 select", {{"file", file}, {"selections", {"x[2:5]"}}, {"output", site / "part.h5"}}));
  record.seconds = told["seconds"];
  EXPECT_EQ(told.dump(), to_json(record));
  (void)ask(session, "hdf5 select",
            {{"file", file}, {"selections", {"x"}}, {"output", site / "blocks"}, {"blocks", "5"}, {"filter", "keep"}});
  EXPECT_TRUE(std::filesystem::exists(site / "blocks/blocks_001.hdf5"));
}

TEST_F(Hdf5Files, AreHashedByTheirData) {
  const Hdf5HashRecord record = hdf5_hash(session, {.file = file}, unheard);
  EXPECT_TRUE(record.hash.starts_with("hdf5-v1:"));
  EXPECT_EQ(record.bytes, 40U);
  ASSERT_EQ(record.objects.size(), 3U);
  EXPECT_EQ(record.objects[1].kind, "soft_link");
  EXPECT_FALSE(record.objects[1].hash);
  EXPECT_TRUE(record.objects[2].hash);
  EXPECT_EQ(ask(session, "hdf5 hash", {{"file", file}}), to_json(record));
  const Hdf5HashRecord brief = hdf5_hash(session, {.file = file, .objects = false}, unheard);
  EXPECT_EQ(brief.hash, record.hash);
  EXPECT_TRUE(brief.objects.empty());
  (void)ask(session, "hdf5 select", {{"file", file}, {"selections", {"/"}}, {"output", site / "copy.h5"}});
  EXPECT_EQ(hdf5_hash(session, {.file = site / "copy.h5"}, unheard).objects.back().hash, record.objects.back().hash);
}

TEST_F(Hdf5Files, AreNeverReplacedByTheirOwnSelection) {
  std::filesystem::create_symlink(file, site / "link.h5");
  std::filesystem::create_hard_link(file, site / "same.h5");
  const auto whole = hdf5_hash(session, {.file = file}, unheard).hash;
  for (const std::string& output : {file, (site / "link.h5").string(), (site / "same.h5").string()}) {
    const Failure failure =
        refusal(session, "hdf5 select", {{"file", file}, {"selections", {"x[2:5]"}}, {"output", output}});
    EXPECT_EQ(failure.kind, FailureKind::usage) << output;
    EXPECT_NE(failure.message.find("it is the file that is read"), std::string::npos) << failure.message;
    EXPECT_FALSE(failure.hint.empty());
  }
  EXPECT_EQ(hdf5_hash(session, {.file = file}, unheard).hash, whole);
}

TEST_F(Hdf5Files, RefuseWhatMakesNoSense) {
  const std::string out = site / "out.h5";
  const std::pair<const char*, Site::Json> wrong[] = {
      {"hdf5 inspect", Site::Json::object()},
      {"hdf5 hash", {{"file", file}, {"objects", true}}},
      {"hdf5 select", {{"file", file}, {"selections", {"x"}}}},
      {"hdf5 select", {{"file", file}, {"selections", Site::Json::array()}, {"output", out}}},
      {"hdf5 select", {{"file", file}, {"selections", {"x[11]"}}, {"output", out}}},
      {"hdf5 select", {{"file", file}, {"selections", {"x"}}, {"output", out}, {"filter", "lz4"}}},
      {"hdf5 select", {{"file", file}, {"selections", {"x"}}, {"output", out}, {"as", "sets"}}},
      {"hdf5 select", {{"file", file}, {"selections", {"x"}}, {"output", out}, {"blocks", "0"}}},
      {"hdf5 select", {{"file", file}, {"selections", {"x"}}, {"output", out}, {"source_digest", "abc"}}},
  };
  for (const auto& [verb, request] : wrong)
    EXPECT_EQ(refusal(session, verb, request).kind, FailureKind::usage) << verb << " " << request;
  EXPECT_FALSE(std::filesystem::exists(out));
  std::ofstream(site / "text.h5") << "no HDF5";
  EXPECT_EQ(refusal(session, "hdf5 inspect", {{"file", site / "text.h5"}}).kind, FailureKind::invalid);
}

}  // namespace
}  // namespace sabath::test
