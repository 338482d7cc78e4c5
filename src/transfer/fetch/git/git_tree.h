// The files of a checked-out tree, as objects of the store. One thread. Throws Error{unavailable} that names
// content kept elsewhere that cannot be fetched.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fetch/hosts/context.h"
#include "manifest/manifest.h"

namespace sabath {

// Makes every file of a checked-out tree an object, below `below`. A pointer of LFS or git-annex is replaced by the
// content that it names, which is fetched. Returns the empty directories: git knows none but those of submodules.
[[nodiscard]] std::vector<RelativePath> take_git_tree(FetchContext& context, const GitSource& git,
                                                      const std::filesystem::path& tree,
                                                      const std::optional<RelativePath>& below,
                                                      ManifestBuilder& builder);

}  // namespace sabath
