// The state that the fragments of one asset share on their way: decisions, means to fetch, and outcomes.
// One thread; the lanes work inside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fetch/asset.h"
#include "fetch/decide/job.h"
#include "fetch/fragment_choice.h"
#include "fetch/hosts/context.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

// The weaker of two reasons to believe; "" is none yet.
[[nodiscard]] std::string weaker_trust(const std::string& a, const std::string& b);

struct FragmentScope {
  FetchContext& context;
  const Recipe& recipe;
  AssetRequest& request;
  const FragmentChoices& choices;

  std::vector<FileFailure> failures{};  // of single files
  std::uint64_t files_done = 0;
  std::string trusted_by{};  // the weakest of all fragments
  std::vector<ResolvedSource> resolved{};

  void trust(const std::string& reason) { trusted_by = weaker_trust(trusted_by, reason); }
  // By all ranks; room for all of them is reserved before. Throws Error{offline} where there is something to fetch and
  // the network may not be used.
  [[nodiscard]] std::vector<FileOutcome> fetch(const std::vector<FileJob>& jobs);
  [[noreturn]] void refuse_offline(const std::string& first, std::size_t files) const;
};

}  // namespace sabath
