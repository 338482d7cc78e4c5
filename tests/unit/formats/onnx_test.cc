// What an ONNX file says of the files beside it; tests/formats/inspect_test.py compares the rest with another reader.
#include "formats/onnx.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.h"

namespace sabath {
namespace {

std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

GraphFacts facts_of(const std::string& location) {
  const test::TempDir temp;
  const std::string place = field(1, "location") + field(2, location);
  std::ofstream(temp / "m.onnx") << field(7, field(5, field(8, "w") + field(13, place)));
  return read_onnx(temp / "m.onnx").graph;
}

TEST(Onnx, NamesWeightsByTheirPathBesideTheModel) {
  const std::vector<std::pair<std::string, std::string>> inside{
      {"w.bin", "w.bin"}, {"./w.bin", "w.bin"}, {"a/./w.bin", "a/w.bin"}, {"././a//w.bin", "a/w.bin"}};
  for (const auto& [said, path] : inside) {
    EXPECT_EQ(facts_of(said).external_data, std::vector{path});
    EXPECT_FALSE(facts_of(said).external_outside) << said;
  }
  for (const char* outside : {"../w.bin", "a/../../w.bin", "/w.bin", "./../w.bin", ".", ""})
    EXPECT_TRUE(facts_of(outside).external_outside) << outside;
}

}  // namespace
}  // namespace sabath
