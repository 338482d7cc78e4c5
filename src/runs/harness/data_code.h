// Code in the files that programs read: pickles, arrays of objects, Lambda layers (formats/pickle.h). A program that
// loads such a file runs what it says, so a run that reads it is asked about, as code is. docs/trust.md. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/assets.h"
#include "harness/consent.h"
#include "sabath/session_settings.h"

namespace sabath {

// Files that run code when they are loaded: at most 100 lines "PATH: what it is, what it imports", by path, and a line
// that says how many more there are. `directory`: the view of the tree of this root. What was found is kept in the
// store under the root, unless it is empty or `store` is nullptr. A file that cannot be followed counts as code.
// Throws Error{storage}, Error{interrupted}.
[[nodiscard]] std::vector<std::string> code_in_tree(Store* store, const std::string& root,
                                                    const std::filesystem::path& directory,
                                                    const std::stop_token& stop);
// The same of these files below the directory; nothing is kept.
[[nodiscard]] std::vector<std::string> code_in_files(const std::filesystem::path& directory,
                                                     const std::vector<std::string>& paths,
                                                     const std::stop_token& stop);

// No question is needed for what these files hold: their recipe came with the program and names their bytes, or they
// come from the user's own directories. Whose recipe it is does not suffice: who writes a recipe for a dataset does not
// know that it is a program.
[[nodiscard]] bool reads_unasked(const SessionSettings& settings, const Recipe& recipe);
// What is decided about: these findings in the asset of this root.
[[nodiscard]] AssetCode code_in_data(const SessionSettings& settings, const Recipe& recipe, const std::string& root,
                                     std::vector<std::string> found);

// Of each asset of this run that is here and holds such files.
[[nodiscard]] std::vector<AssetCode> data_code(const RunCall& call, const ResolvedRun& run, const Consent& of_code,
                                               const RunAssets& assets);
// Before a run reads its assets. Notes in each what it holds, and why it may be read. Throws Error{access}.
void ask_data_consent(const RunCall& call, const ResolvedRun& run, const Consent& of_code, RunAssets& assets);
// What is decided already, of assets that are here: asks no question. Assets without such files are left alone; one
// that would be asked about has an empty `by`.
void foresee_data_consent(const RunCall& call, const ResolvedRun& run, const Consent& of_code, RunAssets& assets);

}  // namespace sabath
