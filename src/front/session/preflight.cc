#include "session/preflight.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/wording.h"
#include "session/ends.h"

namespace sabath {

std::optional<Failure> refusal_of(const TimeNeed& need, std::chrono::system_clock::time_point now,
                                  std::string_view what) {
  if (!need.deadline || need.bytes == 0) return std::nullopt;
  const std::string hint = fmt::format(
      "ask for a longer job, or fetch before it, where there is no limit; what arrives is kept, so {} none begins all "
      "the same",
      option_text("deadline"));
  const double left = std::chrono::duration<double>(need.deadline->at - now).count();
  if (left <= 0) {
    return Failure{FailureKind::space,
                   fmt::format("{} needs time, and the time is over (by {})", what, need.deadline->by), hint,
                   std::nullopt};
  }
  if (!need.rate || need.rate->best <= 0) return std::nullopt;
  const double seconds = static_cast<double>(need.bytes) / need.rate->best;
  if (seconds <= left) return std::nullopt;
  return Failure{
      FailureKind::space,
      fmt::format("{} needs {} for {} at the best rate of earlier fetches from there ({}/s), and {} are left "
                  "(by {})",
                  what, format_duration(seconds), format_bytes(need.bytes),
                  format_bytes(static_cast<std::uint64_t>(need.rate->best)), format_duration(left), need.deadline->by),
      hint, std::nullopt};
}

std::set<std::string> origins_of(const std::vector<AssetPlan>& plans) {
  std::set<std::string> origins;
  for (const auto& plan : plans) {
    if (plan.told.to_fetch.files == 0 && plan.told.files_without_size == 0) continue;
    for (const auto& source : plan.told.sources) {
      if (const auto url = Url::try_parse(source.url)) origins.insert(url->origin());
    }
  }
  return origins;
}

Need need_of(const std::vector<AssetPlan>& plans) {
  Need sum;
  for (const auto& plan : plans) {
    const Need one = plan.need();
    sum.bytes += one.bytes;
    sum.inodes += one.inodes;
    if (one.biggest_file <= sum.biggest_file) continue;
    sum.biggest_file = one.biggest_file;
    sum.biggest_name = one.biggest_name;
  }
  return sum;
}

std::string names_of(const std::vector<AssetPlan>& plans) {
  std::size_t more = 0;
  std::string first;
  for (const auto& plan : plans) {
    if (plan.need().bytes == 0 && plan.need().inodes == 0) continue;
    if (first.empty())
      first = plan.told.name;
    else
      ++more;
  }
  if (first.empty() && !plans.empty()) first = plans.front().told.name;
  return more == 0 ? first : fmt::format("{} and {} more", first, more);
}

SpaceGuard::Ahead preflight(Store& store, const std::vector<Recipe>& recipes, const AssetRequest& request,
                            const PlanSettings& look, const SessionSettings& settings) {
  std::vector<AssetPlan> plans;
  std::uint64_t bytes = 0;
  const auto credentials = settings.credentials ? settings.credentials() : std::vector<Credential>{};
  const auto now = std::chrono::system_clock::now();
  for (const auto& recipe : recipes) {
    plans.push_back(plan_asset(&store, recipe, request, look));
    note_ends(plans.back(), credentials, now);
    if (const auto failure = refusal_of_ended(plans.back().told)) throw Error(*failure);
    bytes += plans.back().told.bytes_to_move();
  }
  SpaceGuard::Ahead ahead{need_of(plans), names_of(plans)};
  if (bytes > 0 && settings.deadline) {
    TimeNeed time{bytes, std::nullopt, settings.deadline()};
    if (time.deadline) time.rate = rate_of(read_rates(store), origins_of(plans));
    if (const auto failure = refusal_of(time, now, ahead.what)) throw Error(*failure);
  }
  return ahead;
}

}  // namespace sabath
