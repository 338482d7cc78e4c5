// A directory on disk as the entries of a manifest, with each file's stat when it was hashed: add_directory_tree() of
// manifest.h with one more callback.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>

#include "manifest/manifest.h"

namespace sabath {

// For each regular file that did not change while it was read. Called from the workers, one at a time.
using OnHashed = std::function<void(const RelativePath& path, const Digest& digest, const struct stat& status)>;

void add_directory_tree(ManifestBuilder& builder, const std::filesystem::path& directory, unsigned threads,
                        const std::function<void(std::uint64_t)>& on_bytes, const OnHashed& on_hashed);

}  // namespace sabath
