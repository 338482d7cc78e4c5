// A tree outside the store that becomes one of the derived asset, under the same path: what the papers call "in place".
// Only a tree that is wholly known is replaced, so nothing of a user's own is lost. One thread. Throws Error{usage},
// Error{content}, Error{storage}, Error{space}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

// Reads the tree: it is that of the input, or already that of `result`.
void check_tree_in_place(const Store& store, const std::filesystem::path& tree, const std::string& name,
                         const Sha256& input, const std::optional<Sha256>& result, unsigned threads);
// Its files share the store's where the filesystem lets them. Returns its absolute path. A stop at any moment leaves
// the whole old tree or the whole new one there.
std::filesystem::path replace_tree(Store& store, const Manifest& manifest, const std::filesystem::path& tree);

}  // namespace sabath
