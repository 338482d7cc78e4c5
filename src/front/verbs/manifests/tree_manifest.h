// A directory or a file on disk, hashed into a manifest with its progress told. One thread calls; it uses many.
// Throws Error{not_found}, Error{interrupted}, and what add_directory_tree throws.
#pragma once

#include <filesystem>
#include <stop_token>

#include "manifest/manifest.h"
#include "sabath/event.h"

namespace sabath {

void hash_tree(ManifestBuilder& builder, const std::filesystem::path& path, unsigned threads, EventSink& events,
               const std::stop_token& stop);

}  // namespace sabath
