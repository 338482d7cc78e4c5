// Before byte one: the needs of a whole call, in room, time and permissions. docs/planning.md. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/hosts/space_guard.h"
#include "fetch/plan.h"
#include "sabath/session.h"
#include "session/rates.h"

namespace sabath {

struct TimeNeed {
  std::uint64_t bytes = 0;           // that must move, at least
  std::optional<Rate> rate;          // of earlier fetches from the same places
  std::optional<Deadline> deadline;  // of this process
};

// Why there is not enough time: it is over, or even at the best rate that was ever seen it takes longer. Pure.
[[nodiscard]] std::optional<Failure> refusal_of(const TimeNeed& need, std::chrono::system_clock::time_point now,
                                                std::string_view what);

// The origins that the bytes of these plans come from.
[[nodiscard]] std::set<std::string> origins_of(const std::vector<AssetPlan>& plans);
[[nodiscard]] Need need_of(const std::vector<AssetPlan>& plans);
[[nodiscard]] std::string names_of(const std::vector<AssetPlan>& plans);  // "a", "a and 2 more"

// Refuses what is known without asking a source: none that a fetcher reads, or a permission that has ended.
void judge_sources(AssetPlan& plan, const std::vector<Credential>& credentials,
                   std::chrono::system_clock::time_point now);

// For a fetch of all `recipes` into `store`: what it is known to need. Throws Error{space} if the time does not do,
// Error{access} if a permission has ended that it needs.
[[nodiscard]] SpaceGuard::Ahead preflight(Store& store, const std::vector<Recipe>& recipes, const AssetRequest& request,
                                          const PlanSettings& look, const SessionSettings& settings);

}  // namespace sabath
