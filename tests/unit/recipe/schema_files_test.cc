// The published JSON schemas and our reader give the same verdict.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recipe/parse.h"
#include "recipe_cases.h"
#include "sabath/error.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Case {
  int schema;
  std::string text;
};

bool reader_takes(const Case& c) {
  try {
    (void)parse_recipe(c.text, "r.json", AssetKind::dataset);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The validator's verdicts; empty if no Python here has jsonschema.
std::vector<std::string> validate(const std::vector<Case>& cases) {
  const test::TempDir directory;
  nlohmann::json array = nlohmann::json::array();
  for (const Case& c : cases) array.push_back({c.schema, c.text});
  std::ofstream(directory / "cases.json") << array;
  const fs::path source = SABATH_SOURCE_DIR;
  for (const std::string& python : {std::string(SABATH_PYTHON), test::find_program("python3")}) {
    if (python.empty()) continue;
    test::ChildProcess child(
        {python, source / "tests/unit/recipe/validate.py", directory / "cases.json",
         source / "recipes/schema/recipe-0.schema.json", source / "recipes/schema/recipe-1.schema.json"},
        directory / "log");
    const int code = child.wait();
    if (code == 77) continue;
    EXPECT_EQ(code, 0) << read_file(directory / "log");
    std::vector<std::string> verdicts;
    std::ifstream log(directory / "log");
    for (std::string line; std::getline(log, line);) verdicts.push_back(line);
    return verdicts;
  }
  return {};
}

TEST(SchemaFiles, AgreeWithTheReader) {
  std::vector<Case> cases;
  for (const test::RecipeCase& c : test::schema_0_cases()) {
    if (c.by_schema_too) cases.push_back({0, c.json});
  }
  for (const test::RecipeCase& c : test::schema_1_cases()) {
    if (c.by_schema_too) cases.push_back({1, c.json});
  }
  for (const test::RecipeCase& c : test::check_cases()) {
    if (c.by_schema_too) cases.push_back({1, c.json});
  }
  for (const char* folder : {"datasets", "models", "workflows"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(SABATH_SOURCE_DIR) / "recipes" / folder)) {
      if (entry.path().extension() == ".json") cases.push_back({1, read_file(entry.path())});
    }
  }
  const std::vector<std::string> verdicts = validate(cases);
  if (verdicts.empty()) GTEST_SKIP() << "no Python with the package jsonschema on this machine";
  ASSERT_EQ(verdicts.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(reader_takes(cases[i]), verdicts[i] == "good") << verdicts[i] << "\n" << cases[i].text;
  }
}

}  // namespace
}  // namespace sabath
