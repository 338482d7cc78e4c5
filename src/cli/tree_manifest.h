// A directory or a file on disk, hashed into a manifest with its progress shown. One thread calls; it uses many.
// Throws Error{not_found}, Error{interrupted}, and what add_directory_tree throws.
#pragma once

#include <filesystem>

#include "cli/verb.h"
#include "manifest/manifest.h"

namespace sabath::cli {

void hash_tree(const Context& context, ManifestBuilder& builder, const std::filesystem::path& path, unsigned threads);

}  // namespace sabath::cli
