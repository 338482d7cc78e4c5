// The exit code of a fetch, from what became of its assets.
#include "session/exit_of.h"

#include <gtest/gtest.h>

namespace sabath {
namespace {

struct Asset {
  std::uint64_t files = 0;
  std::vector<FailureKind> failures{};
};

int exit_of(std::initializer_list<Asset> assets) {
  std::vector<AssetRecord> records;
  for (const auto& asset : assets) {
    AssetRecord& record = records.emplace_back();
    record.files = asset.files;
    for (const auto kind : asset.failures) record.failures.push_back({"f", {kind, "", "", {}}});
  }
  return sabath::exit_of(records);
}

TEST(ExitOf, Table) {
  using enum FailureKind;
  EXPECT_EQ(exit_of({}), 0);
  EXPECT_EQ(exit_of({{3}, {0}}), 0);
  EXPECT_EQ(exit_of({{0, {network}}}), 6);
  EXPECT_EQ(exit_of({{5, {network, unavailable, network}}}), 6) << "one code, whatever was done";
  EXPECT_EQ(exit_of({{5}, {0, {access}}}), 4);
  EXPECT_EQ(exit_of({{5, {network, content}}}), 8) << "some done, the codes differ";
  EXPECT_EQ(exit_of({{1}, {0, {network}}, {0, {access}}}), 8);
  EXPECT_EQ(exit_of({{0, {network, content}}}), 7) << "nothing done: what would have been believed";
  EXPECT_EQ(exit_of({{0, {access, network}}}), 6);
  EXPECT_EQ(exit_of({{0, {content, invalid}}}), 12);
  EXPECT_EQ(exit_of({{9, {network}}, {0, {space}}}), 5) << "what ends the call";
  EXPECT_EQ(exit_of({{9, {network, interrupted}}}), 130);
  EXPECT_EQ(exit_of({{9, {space, terminated}}}), 143);
  EXPECT_EQ(exit_of({{9, {content, storage}}}), 70);
  EXPECT_EQ(exit_of({{0, {offline}}}), 9);
}

}  // namespace
}  // namespace sabath
