// Source trees by the git program: a bare clone in the store, and the tree of one commit as files, all read once into
// objects. Nothing of the repository is executed: no hooks, no filters, no user's or system's configuration.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "fetch/hosts/context.h"
#include "manifest/manifest.h"
#include "sabath/recipe.h"

namespace sabath {

// Where the rules lead to, which is the user's own word.
[[nodiscard]] GitSource rewritten(GitSource git, const RewriteRules& rules);

// The commit that branch, tag or nothing means at the origin now: one request. A commit, also an abbreviated one, is
// returned as it is.
[[nodiscard]] std::string resolve_commit(FetchContext& context, const GitSource& git);

// Adds the files of `commit` to `builder`, at the root; returns the commit's full name. The bare clone stays in the
// store for `run`.
std::string fetch_git(FetchContext& context, const GitSource& git, const std::string& commit, ManifestBuilder& builder);

}  // namespace sabath
