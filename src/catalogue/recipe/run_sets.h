// Reads how a model or workflow of schema 1 runs: its sets of steps, their defaults, the patterns of their output.
// Inside src/catalogue/recipe only. Pure; any thread. Throws Error{invalid} with file, line and key.
#pragma once

#include <map>
#include <string>

#include "base/json_reader.h"
#include "sabath/recipe.h"

namespace sabath {

// The keys run, infer, default_dataset, config, metrics and source.
void read_run_sets(JsonObject& object, Recipe& recipe);

// An object of strings, numbers, booleans and nulls as texts; nulls are left out.
[[nodiscard]] std::map<std::string, std::string> take_facts(JsonObject& object, std::string_view key);

}  // namespace sabath
