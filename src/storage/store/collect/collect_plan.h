// Which assets go, and what goes with them. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/collect/collect.h"
#include "store/collect/survey.h"

namespace sabath {

struct CollectPlan {
  struct Victim {
    Sha256 root;
    std::vector<std::uint32_t> objects;  // those that no remaining root holds
    std::uint64_t bytes = 0;
    std::string why;
  };
  std::vector<Victim> assets;          // least recently used first
  std::vector<std::uint32_t> unnamed;  // objects that no root names
  std::uint64_t unnamed_bytes = 0;
  struct Kept {
    Sha256 root;
    std::string why;
    std::int64_t until_ns = 0;  // kept by other members' use; 0: by something else, or by a view alone
    bool let_go = false;        // this user's own view and refs go, though the content stays
  };
  std::vector<Kept> kept;                      // the policy chose them, but they may not go
  std::vector<CollectReport::Keeper> keepers;  // of these
};

// `old_enough`: whether an object that no root names is old enough to go.
[[nodiscard]] CollectPlan plan_collection(const Survey& survey, const CollectPolicy& policy,
                                          const std::function<bool(std::uint32_t object)>& old_enough);

}  // namespace sabath
