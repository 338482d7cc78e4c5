// One asset, from its recipe to its view: what is known is looked up, what is missing is fetched, what arrived is
// named by a manifest, and only then anything becomes visible. One thread; the lanes work inside.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "fetch/hosts/context.h"
#include "sabath/recipe.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

struct LocalFile {
  std::string path;
  bool link = false;
};

struct AssetRequest {
  std::optional<ManifestPin> pin;  // instead of the recipe's
  std::string manifest_file;       // a local manifest file that pins; empty: none
  std::deque<LocalFile> locals;    // local copies of the fragments, in order; what is used is taken away
  Selection selection;             // of the fragments; empty: all
  bool refresh = false;
  bool keep_archives = false;
  bool offline = false;
  bool view = true;  // of an asset in packs, too
};

// The asset's failures are in the record; throws what concerns the whole call (no space, storage, a stop request).
[[nodiscard]] AssetRecord fetch_asset(FetchContext& context, const Recipe& recipe, AssetRequest& request);

}  // namespace sabath
