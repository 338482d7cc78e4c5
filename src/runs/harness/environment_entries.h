// The tree of a packed environment before a run uses it: an interpreter also imports and loads files that no manifest
// names. One thread. Throws Error{content}, Error{access}, Error{storage}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "manifest/manifest.h"
#include "software/owners.h"

namespace sabath {

// Throws Error{content}, with the first path: the tree has an entry that the manifest does not have.
void refuse_more_entries(const Manifest& manifest, const std::filesystem::path& tree, const std::string& name,
                         const std::stop_token& stop);
// Throws Error{access}: another user owns or may write an entry of the tree, or a directory above it.
void refuse_writable_tree(const std::filesystem::path& tree, const TrustedOwners& owners, const std::string& name,
                          const std::stop_token& stop);

}  // namespace sabath
