// A small file that h5py made, against what h5py, numpy and the hash's second implementation say of it (known.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "hdf5/elements.h"
#include "hdf5/logical_hash.h"
#include "hdf5/pick.h"
#include "hdf5/selection.h"
#include "hdf5/source.h"
#include "hdf5/tree.h"
#include "hdf5/type.h"
#include "hdf5/value.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

using Numbers = std::vector<std::uint64_t>;

struct KnownDataset {
  std::string name, descriptor, canonical_hex;
};
struct KnownAttribute {
  std::string name, shape, value;  // JSON
};
struct KnownSlice {
  std::uint64_t extent;
  std::string index;
  Numbers taken;
};
struct KnownPick {
  Numbers extents, begin, step, count, taken;
};
#include "known.inc"

const std::filesystem::path known = std::filesystem::path(SABATH_UNIT_HDF5) / "known.h5";

h5::Paths paths_of(const h5::Source& source) {
  h5::Paths paths;
  h5::walk(source, [&](const h5::Node& node) {
    if (node.address != HADDR_UNDEF) paths.try_emplace(node.address, node.path);
  });
  return paths;
}

// Every element as the logical hash takes it.
std::string canonical_bytes(const h5::Source& source, const std::string& name, const h5::Paths& paths) {
  const h5::Dataset dataset = h5::open_dataset(source, "/" + name, 1 << 20);
  const h5::Type type = h5::parse_type(dataset.type.get(), name);
  const h5::Handle memory = h5::canonical_memory_type(dataset.type.get(), name);
  h5::Elements elements(memory.get(), type.memory_size(), type.is_variable());
  elements.resize(h5::element_count(dataset.shape, name));
  const h5::Handle space = h5::make_space(dataset.shape.dims, name);
  h5::read_box(dataset, {Numbers(dataset.shape.dims.size(), 0), dataset.shape.dims}, memory.get(), space.get(),
               elements.data());
  std::string bytes;
  for (std::size_t i = 0; i < elements.count(); ++i) {
    h5::append_canonical(type, elements.data() + i * type.memory_size(), paths, bytes);
  }
  return bytes;
}

TEST(KnownFile, ElementsAndDescriptorsAreThoseOfTheWitness) {
  const h5::Source source(known);
  const h5::Paths paths = paths_of(source);
  for (const KnownDataset& each : known_datasets) {
    SCOPED_TRACE(each.name);
    const h5::Dataset dataset = h5::open_dataset(source, "/" + each.name, 1 << 20);
    EXPECT_EQ(h5::canonical(h5::parse_type(dataset.type.get(), each.name), each.name), each.descriptor);
    const std::string bytes = canonical_bytes(source, each.name, paths);
    EXPECT_EQ(to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}), each.canonical_hex);
  }
}

TEST(KnownFile, AReferenceWithoutAPathIsMarked) {
  const h5::Source source(known);
  const std::string bytes = canonical_bytes(source, "references", {});
  EXPECT_EQ(bytes, std::string("\1\0\0\0\0\0\0\0?", 9) + std::string(8, '\0'));
}

TEST(KnownFile, TypesAreDescribedForPeople) {
  const h5::Source source(known);
  const std::vector<std::pair<std::string, std::string>> words{
      {"integers", "int16 big-endian"},
      {"floats", "float32"},
      {"compound",
       "compound {x: float64 big-endian, y: string(3, ascii), z: compound {a: array(2,2) of int16, "
       "b: enum int8 {FALSE=0, TRUE=1}}}"},
      {"enum", "enum int16 big-endian {RED=1, BLUE=2, NONE=-3}"},
      {"lists", "list of int32"},
      {"texts", "string(utf-8)"},
      {"opaque", "opaque(5)"},
      {"references", "reference to an object"}};
  for (const auto& [name, expected] : words) {
    const h5::Dataset dataset = h5::open_dataset(source, "/" + name, 1 << 20);
    EXPECT_EQ(h5::describe(h5::parse_type(dataset.type.get(), name)), expected);
  }
}

TEST(KnownFile, AttributesAreWhatH5pyReads) {
  const h5::Source source(known);
  const h5::Dataset integers = h5::open_dataset(source, "/integers", 1 << 20);
  const auto names = h5::attribute_names(integers.id.get(), "integers");
  ASSERT_EQ(names.size(), std::size(known_attributes));
  for (std::size_t i = 0; i < names.size(); ++i) {
    SCOPED_TRACE(names[i]);
    EXPECT_EQ(names[i], known_attributes[i].name);
    const auto record = h5::attribute_record(integers.id.get(), names[i], "integers", {});
    EXPECT_EQ(record.at("shape"), nlohmann::ordered_json::parse(known_attributes[i].shape));
    EXPECT_EQ(record.at("value"), nlohmann::ordered_json::parse(known_attributes[i].value));
    EXPECT_EQ(record.at("cut"), names[i] == "many");
  }
}

TEST(KnownFile, HashIsThatOfTheSecondImplementation) {
  const LogicalHash hash = logical_hash(known, {});
  EXPECT_EQ(hash.text(), known_hash);
  std::string kinds;
  for (const ObjectHash& object : hash.objects) kinds += object.path + " " + object.kind + "\n";
  EXPECT_EQ(kinds,
            "/ g\n/compound d\n/enum d\n/fixed d\n/floats d\n/group g\n/group/again d\n/here l\n/integers a\n"
            "/lists d\n/opaque d\n/references d\n/texts d\n/there x\n");
}

TEST(KnownFile, OneBitMoreIsAnotherHashOfThatObjectOnly) {
  std::ifstream in(known, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string integers("\xec\x78\xf0\x60", 4);  // -5000, -4000, as they stand
  const std::size_t at = bytes.find(integers);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.find(integers, at + 1), std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  const test::TempDir directory;
  const auto other = directory.path() / "other.h5";
  std::ofstream(other, std::ios::binary) << bytes;
  const LogicalHash before = logical_hash(known, {}), after = logical_hash(other, {});
  ASSERT_EQ(before.objects.size(), after.objects.size());
  EXPECT_NE(before.text(), after.text());
  for (std::size_t i = 0; i < before.objects.size(); ++i) {
    EXPECT_EQ(before.objects[i].hash == after.objects[i].hash, before.objects[i].path != "/group/again");
  }
  std::ofstream(other, std::ios::binary | std::ios::trunc) << bytes.substr(0, bytes.size() - 1000);
  EXPECT_THROW((void)logical_hash(other, {}), Error);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)logical_hash(known, stop.get_token()), Error);
}

TEST(KnownIndices, SlicesAreThoseOfNumpy) {
  for (const KnownSlice& each : known_slices) {
    const Numbers extents{each.extent};
    const AxisRange range = resolve_hyperslab(parse_selection("a[" + each.index + "]"), extents).at(0);
    Numbers taken;
    for (std::uint64_t i = 0; i < range.count; ++i) taken.push_back(range.begin + i * range.step);
    EXPECT_EQ(taken, each.taken) << each.index << " of " << each.extent;
  }
}

TEST(KnownIndices, PicksAreThoseOfNumpy) {
  for (const KnownPick& each : known_picks) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : each.extents) elements *= extent;
    for (const std::size_t size : {1U, 2U, 3U, 4U, 8U}) {
      std::vector<std::byte> from(elements * size), to(each.taken.size() * size), expected(to.size());
      const auto put = [&](std::uint64_t number, std::byte* at) { std::memcpy(at, &number, size); };
      for (std::uint64_t i = 0; i < elements; ++i) put(i, from.data() + i * size);
      for (std::size_t i = 0; i < each.taken.size(); ++i) put(each.taken[i], expected.data() + i * size);
      const Pick how = make_pick(each.extents, each.begin, each.step, each.count, size);
      EXPECT_EQ(pick(how, from.data(), to.data()), to.data() + to.size());
      EXPECT_EQ(to, expected) << size << " bytes each";
    }
  }
}

}  // namespace
}  // namespace sabath
