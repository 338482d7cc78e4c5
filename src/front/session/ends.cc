#include "session/ends.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sabath {

void note_ends(AssetPlan& plan, const std::vector<Credential>& credentials, WallTime now) {
  for (std::size_t i = 0; i < plan.urls.size(); ++i) {
    PlannedSource& source = plan.told.sources[i];
    const auto note = [&](WallTime until, const std::string& by) {
      const auto left = std::chrono::duration_cast<std::chrono::seconds>(until - now).count();
      if (source.expires_in_s && *source.expires_in_s <= left) return;
      source.expires_in_s = left;
      source.expires_by = by;
    };
    if (const auto until = presigned_until(plan.urls[i])) note(*until, "signed URL");
    for (const auto& credential : credentials) {
      const bool concerned = credential.origin.empty() ? credential.scheme == plan.urls[i].scheme()
                                                       : credential.origin == plan.urls[i].origin();
      if (concerned) note(credential.expires, credential.what);
    }
  }
}

std::optional<Failure> refusal_of_ended(const PlannedAsset& asset) {
  if (asset.to_fetch.files == 0 && asset.files_without_size == 0) return std::nullopt;
  for (const auto& first : asset.sources) {
    bool usable = false;
    const PlannedSource* ended = nullptr;
    for (const auto& source : asset.sources) {
      if (source.fragment != first.fragment) continue;
      const bool over = source.expires_in_s && *source.expires_in_s <= 0;
      usable = usable || (!over && source.readable);
      if (over) ended = &source;
    }
    if (usable || ended == nullptr) continue;
    return Failure{FailureKind::access,
                   fmt::format("{}: {} ended {} ago, and {} is read with it", asset.name, ended->expires_by,
                               format_duration(static_cast<double>(-*ended->expires_in_s)), ended->url),
                   "get a new one, then try again (this machine's clock decides)", std::nullopt};
  }
  return std::nullopt;
}

}  // namespace sabath
