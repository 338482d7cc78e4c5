// Recipes for the tests: good ones, and bad ones with what is wrong. schema_1_test.cc gives them to our reader,
// schema_files_test.cc also to a validator with recipes/schema/*.json, which must agree.
#pragma once

#include <string>
#include <vector>

namespace sabath::test {

struct RecipeCase {
  std::string json;
  std::string message;        // part of the reader's message; empty: the recipe is good
  bool by_schema_too = true;  // false: a JSON schema cannot say it
};

// {"schema":1,"kind":"dataset","name":"one", <members>}
[[nodiscard]] std::string dataset_with(const std::string& members);
// ... with one fragment that has these members beside id, type file and urls.
[[nodiscard]] std::string fragment_with(const std::string& members);
[[nodiscard]] std::string model_with(const std::string& members);

[[nodiscard]] const std::vector<RecipeCase>& schema_1_cases();
[[nodiscard]] const std::vector<RecipeCase>& check_cases();  // of schema 1
[[nodiscard]] const std::vector<RecipeCase>& schema_0_cases();

}  // namespace sabath::test
