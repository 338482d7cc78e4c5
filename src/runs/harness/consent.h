// Whether the code of a model may run here: whose its recipe is, what its code is, and what its user has decided.
// One thread. docs/trust.md. Throws Error{access} if it is not trusted, and what fetching the code throws.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/resolved_run.h"
#include "record/run_record.h"
#include "run/run_asset.h"
#include "sabath/session_settings.h"
#include "trust/approval.h"

namespace sabath {

struct Consent {
  AssetCode code;
  TrustVerdict verdict;
  [[nodiscard]] RunRecord::Trust recorded() const;
};

// What decides about code: of a model its steps and its tree, of a script its argv and its directory.
struct CodeParts {
  std::string name;                    // of the asset
  std::string recipe;                  // the file that brings it
  std::optional<RelativePath> source;  // the directory beside the recipe
  std::optional<GitSource> git;        // else the repository
  std::vector<Fragment> fragments;     // else the files
  bool pinned = false;                 // the recipe names the root of those files
  std::vector<std::string> words;      // all that decides what the commands do
  std::vector<std::string> commands;   // as people read them
  std::string commit;                  // of the tree, as far as it is known
};

[[nodiscard]] AssetCode code_of(const SessionSettings& settings, CodeParts parts);
// `tree`: the model's code in the store, as far as it is known.
[[nodiscard]] AssetCode code_of(const SessionSettings& settings, const Recipe& model, const std::vector<Step>& steps,
                                const std::optional<RunAsset>& tree);
// True if the recipe says which bytes its code is, or they stand where only the user writes.
[[nodiscard]] bool is_fixed(const CodeParts& parts, Ownership recipe_of);
// True if these files come from directories of the user's own.
[[nodiscard]] bool is_own_place(const std::vector<Fragment>& fragments);

[[nodiscard]] TrustRegistry trust_registry(const Environment& environment);
// `said`, `ask`: as in RunRequest. `remedy`: the command that trusts, without the scope.
[[nodiscard]] TrustPolicy trust_policy(const std::string& said,
                                       const std::function<std::string(const std::string& about)>& ask,
                                       std::string remedy);

// Before anything of the model is installed, loaded or launched. Code that has to be trusted is fetched first: its
// commit is what is trusted.
[[nodiscard]] Consent ask_consent(const RunCall& call, const ResolvedRun& run);
// What is decided already: asks no question, and fetches nothing.
[[nodiscard]] Consent foresee_consent(const SessionSettings& settings, const Environment& environment,
                                      const Recipe& model, const std::vector<Step>& steps);
// Throws Error{access} if the code that is about to run is another than what was trusted.
void check_consent(const RunCall& call, const ResolvedRun& run, const Consent& consent,
                   const std::vector<RunAsset>& assets);

}  // namespace sabath
