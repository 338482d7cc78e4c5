#include "hub/holdings.h"

#include <algorithm>

#include "hub/revision.h"

namespace sabath {

const std::vector<HubAsset>& HubHoldings::all() {
  if (!reader_.read()) return assets_;
  assets_.clear();
  for (const Ref& ref : reader_.refs()) {
    auto hub = try_decode_hub_note(ref.note);
    if (!hub) continue;
    HubAsset asset{ref.root, std::move(*hub), ref.time};
    const auto same = std::ranges::find_if(
        assets_, [&](const HubAsset& other) { return other.root == asset.root && other.hub == asset.hub; });
    if (same == assets_.end()) {
      assets_.push_back(std::move(asset));
    } else {
      same->time = std::max(same->time, asset.time);
    }
  }
  std::ranges::stable_sort(assets_, [](const HubAsset& a, const HubAsset& b) { return a.time > b.time; });
  return assets_;
}

std::optional<HubAsset> HubHoldings::find(const Sha256& root) {
  const auto& assets = all();
  const auto found = std::ranges::find(assets, root, &HubAsset::root);
  return found == assets.end() ? std::nullopt : std::optional(*found);
}

}  // namespace sabath
