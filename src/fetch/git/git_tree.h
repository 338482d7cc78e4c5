// The files of a checked-out tree, as objects of the store. One thread. Throws Error{unavailable} naming what stands
// elsewhere and cannot be had.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fetch/hosts/context.h"
#include "manifest/manifest.h"

namespace sabath {

// Every file of a checked-out tree becomes an object, below `below`; what LFS and git-annex keep is fetched in place of
// what points at it. Returns the empty directories: git knows none but those of submodules.
[[nodiscard]] std::vector<RelativePath> take_git_tree(FetchContext& context, const std::string& origin,
                                                      const std::filesystem::path& tree,
                                                      const std::optional<RelativePath>& below,
                                                      ManifestBuilder& builder);

}  // namespace sabath
