#include "golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace sabath::test {

void expect_golden(std::string_view name, const std::string& text) {
  const auto file = std::filesystem::path(SABATH_GOLDEN_DIRECTORY) / (std::string(name) + ".txt");
  if (std::getenv("SABATH_ACCEPT") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  std::ostringstream kept;
  kept << std::ifstream(file, std::ios::binary).rdbuf();
  EXPECT_EQ(text, kept.str()) << "if this is right: SABATH_ACCEPT=1, run again, and look at git diff";
}

}  // namespace sabath::test
