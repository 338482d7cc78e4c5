#include "software/version.h"

#include <gtest/gtest.h>

namespace sabath {
namespace {

TEST(SoftwareVersion, Order) {
  const char* const oldest_first[] = {"0.9",   "1.0alpha1", "1.0b2",   "1.0rc1",   "1.0",
                                      "1.0.1", "1.1.1",     "1.1.1k",  "1.2",      "1.9",
                                      "1.10",  "1.10.0.1",  "2.0-rc1", "2.0",      "10",
                                      "2022b", "2023a",     "2023b",   "20240101", "99999999999999999999999",
                                      "main"};
  for (std::size_t i = 0; i < std::size(oldest_first); ++i) {
    for (std::size_t j = 0; j < std::size(oldest_first); ++j) {
      const int order = compare_versions(oldest_first[i], oldest_first[j]);
      EXPECT_EQ(order < 0, i < j) << oldest_first[i] << " " << oldest_first[j];
      EXPECT_EQ(order == 0, i == j) << oldest_first[i] << " " << oldest_first[j];
    }
  }
}

TEST(SoftwareVersion, Equals) {
  for (const auto& [a, b] : {std::pair("1.2", "1.2.0"),
                             {"v1.2", "1.2"},
                             {"1_2", "1.2"},
                             {"01.2", "1.2"},
                             {"4.1.4-GCC-11.3.0", "4.1.4"},
                             {"1.14+mpi", "1.14"},
                             {"1.0RC1", "1.0-rc1"},
                             {"", ""}})
    EXPECT_EQ(compare_versions(a, b), 0) << a << " " << b;
}

TEST(SoftwareVersion, Parts) {
  EXPECT_EQ(parts_of_version("4.1.4-GCC-11.3.0").core, "4.1.4");
  EXPECT_EQ(parts_of_version("4.1.4-GCC-11.3.0").suffix, "GCC-11.3.0");
  EXPECT_EQ(parts_of_version("2.11-CUDA-11.7.0").suffix, "CUDA-11.7.0");
  EXPECT_EQ(parts_of_version("2.0-rc1").suffix, "");
  EXPECT_EQ(parts_of_version("foss").core, "foss");
}

TEST(SoftwareVersion, OfAnother) {
  EXPECT_TRUE(is_version_of("12.2", "12"));
  EXPECT_TRUE(is_version_of("12.2-foss-2023a", "12.2"));
  EXPECT_TRUE(is_version_of("12", "12.0"));
  EXPECT_FALSE(is_version_of("120", "12"));
  EXPECT_FALSE(is_version_of("12.2", "12.2.1"));
  EXPECT_FALSE(is_version_of("12.20", "12.2"));
}

}  // namespace
}  // namespace sabath
