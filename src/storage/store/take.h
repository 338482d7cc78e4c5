// A file that this process, or a program that it ran and that has ended, made in the store's own temporary directory
// becomes an object: hashed, synced and renamed, never copied. Any thread. Throws Error{storage}, Error{space},
// Error{invalid} for what is no regular file of its own.
#pragma once

#include <filesystem>

#include "manifest/file_tree.h"
#include "store/store.h"

namespace sabath {

// `file` stands below Store::make_temporary_directory(), and is gone then.
[[nodiscard]] FileTree take_file(Store& store, const std::filesystem::path& file);

}  // namespace sabath
