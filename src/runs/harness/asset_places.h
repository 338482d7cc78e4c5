// Where the assets of a run stand, as far as recipe and request say it. One thread.
#pragma once

#include <filesystem>
#include <string>

#include "harness/resolved_run.h"

namespace sabath {

[[nodiscard]] bool has_source_tree(const Recipe& model);
// The directory beside the recipe. Throws Error{not_found}.
[[nodiscard]] std::filesystem::path shipped_source(const Recipe& model);
// "" where no commit is why the root is believed.
[[nodiscard]] std::string commit_in(const std::string& trusted_by);
// Code that stands beside its recipe, and files of the model that are fetched.
[[nodiscard]] bool has_files_apart(const ResolvedRun& run);
[[nodiscard]] std::filesystem::path stage_of(const RunCall& call);  // empty: nothing is staged

}  // namespace sabath
