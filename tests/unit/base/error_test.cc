#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sabath/error.h"

namespace sabath {
namespace {

using enum FailureKind;

TEST(Error, ExitCodesAreTheDocumentedOnes) {
  const std::pair<FailureKind, int> table[] = {
      {usage, 2},     {not_found, 3}, {access, 4},   {space, 5},         {network, 6},      {unavailable, 6},
      {no_ranges, 6}, {changed, 6},   {content, 7},  {partial, 8},       {offline, 9},      {nodes, 10},
      {command, 11},  {invalid, 12},  {storage, 70}, {interrupted, 130}, {terminated, 143}, {internal, 70}};
  std::set<std::string_view> names;
  for (const auto& [kind, code] : table) {
    EXPECT_EQ(exit_code(kind), code) << name(kind);
    names.insert(name(kind));
  }
  EXPECT_EQ(names.size(), std::size(table)) << "every kind has a name of its own";
}

TEST(Error, CarriesItsFailure) {
  const Error error(content, "hash of f differs", "fetch it again");
  EXPECT_STREQ(error.what(), "hash of f differs");
  EXPECT_EQ(error.failure(), (Failure{content, "hash of f differs", "fetch it again", {}}));
}

}  // namespace
}  // namespace sabath
