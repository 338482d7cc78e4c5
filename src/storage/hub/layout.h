// An asset as a cache of Hugging Face's hub: models--OWNER--NAME/{blobs, refs, snapshots, trees, .no_exist}. The layout
// is a tree of its own in the store: the asset's files as blobs, symlinks to them, and a few small files. So it is
// shown, copied, staged and verified like any other. docs/huggingface.md. One thread. Throws Error{storage},
// Error{space}, Error{invalid}.
#pragma once

#include <vector>

#include "hub/holdings.h"
#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

// All files of the assets are present. Puts what the layout adds into the store.
[[nodiscard]] Manifest hub_layout(Store& store, const std::vector<HubAsset>& assets);
// The same of one, without the folder models--OWNER--NAME itself.
[[nodiscard]] Manifest hub_folder_layout(Store& store, const HubAsset& asset);

// A tree that no hub gave, as a repository of this name: its commit is the root's first 40 digits.
[[nodiscard]] HubAsset named_as_hub(const Sha256& root, HubRevision name);

}  // namespace sabath
