// The one question whether code of an asset may run, and its answer. One thread; the question may wait for a person.
// Under ranks: rank 0 asks, and run_agreed() (comm/agree.h) makes its answer that of all.
#pragma once

#include <functional>
#include <string>

#include "trust/code.h"
#include "trust/registry.h"

namespace sabath {

struct TrustPolicy {
  // What the user has said in advance: "" nothing, "once", "commit", "origin". The last two are kept.
  std::string said;
  // Asks a person: the answer is as in `said`, "" is no. Empty: no person is there to ask.
  std::function<std::string(const AssetCode&)> ask;
  std::string remedy;  // how the user says it, for the hint: "sabath run x --trust"; a scope follows
};

struct TrustVerdict {
  bool trusted = false;
  std::string by;     // "shipped", "own", "once", "commit", "origin"; empty: it is not trusted
  std::string doubt;  // why a decision in the registry does not count
};

// What has been decided already. Asks no question, keeps nothing.
[[nodiscard]] TrustVerdict judge(const AssetCode& code, const TrustRegistry& registry);

// judge(), then what the user has said in advance, then the question. Throws Error{access}, whose hint shows recipe,
// origin, commit and commands, if it is not trusted then; Error{usage} for a scope that is none.
TrustVerdict approve(const AssetCode& code, const TrustRegistry& registry, const TrustPolicy& policy);

}  // namespace sabath
