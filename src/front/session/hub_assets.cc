#include "session/hub_assets.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/wording.h"
#include "fetch/hosts/source_key.h"
#include "hub/layout.h"
#include "hub/revision.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

std::vector<HubAsset> hub_assets(Store& store, const Recipe* recipe, const Sha256& root,
                                 const std::string& repository) {
  HubHoldings holdings(store);
  if (!repository.empty()) {
    HubRevision name = parse_hub_repository(repository);
    for (const HubAsset& known : holdings.all())
      if (known.root == root && spelled(known.hub) == spelled(name)) return {known};
    return {named_as_hub(root, std::move(name))};
  }
  if (auto known = holdings.find(root)) return {std::move(*known)};
  std::vector<HubAsset> assets;  // of several fragments each may be a repository
  for (const Fragment& fragment : recipe != nullptr ? recipe->fragments : std::vector<Fragment>{}) {
    const auto ref = fragment.urls.empty() ? std::nullopt : store.ref(source_key(fragment, store.source_names()));
    auto hub = ref ? try_decode_hub_note(ref->note) : std::nullopt;
    if (hub && store.manifest(ref->root)) assets.push_back({ref->root, std::move(*hub), ref->time});
  }
  if (!assets.empty()) return assets;
  const std::string name = recipe != nullptr ? recipe->name : root.prefixed();
  const bool from_hub = recipe != nullptr && !recipe->fragments.empty() && !recipe->fragments.front().urls.empty() &&
                        recipe->fragments.front().urls.front().scheme() == "hf";
  throw Error(
      FailureKind::usage, fmt::format("{} is not known to be a repository of the hub at a commit", printable(name)),
      from_hub ? fmt::format("an earlier SABATH fetched it, or it is a single file: `{} {} {}` notes the commit "
                             "of a repository; or say which repository it is to be",
                             verb_text("fetch"), option_text("force"), shell_word(name))
               : "say which repository it is to be: OWNER/NAME, or datasets/OWNER/NAME");
}

}  // namespace sabath
