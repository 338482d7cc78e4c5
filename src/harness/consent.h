// Whether the code of a model may run here: whose its recipe is, what its code is, and what its user has decided.
// One thread. docs/trust.md. Throws Error{access} if it is not trusted, and what fetching the code throws.
#pragma once

#include <filesystem>
#include <optional>

#include "harness/resolved_run.h"
#include "record/run_record.h"
#include "run/run_asset.h"
#include "trust/approval.h"

namespace sabath {

struct Consent {
  AssetCode code;
  TrustVerdict verdict;
  [[nodiscard]] RunRecord::Trust recorded() const;
};

// `tree`: the model's code in the store, as far as it is known.
[[nodiscard]] AssetCode code_of(const SessionSettings& settings, const Recipe& model, const std::vector<Step>& steps,
                                const std::optional<RunAsset>& tree);
[[nodiscard]] TrustRegistry trust_registry(const Environment& environment);

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
