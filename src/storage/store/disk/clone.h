// Copies of files: clones that share blocks, where the filesystem can; else copies that are hashed as they are written.
// Any thread. Throws Error{space}, Error{storage}.
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "base/file.h"
#include "manifest/file_tree.h"

namespace sabath {

// ioctl_ficlone(2); false if this pair of files cannot share blocks.
[[nodiscard]] bool try_clone(int from, int to, const std::filesystem::path& name);

// ioctl_ficlonerange(2); false if these ranges cannot share blocks, or `from` is -1.
[[nodiscard]] bool try_clone_range(int from, std::uint64_t from_offset, std::uint64_t length, int to,
                                   std::uint64_t to_offset, const std::filesystem::path& name);

// Reads to the end, in pieces of at most a chunk; returns how many bytes there were.
std::uint64_t read_through(int fd, const std::filesystem::path& name,
                           const std::function<void(std::span<const std::byte>)>& visit);

// Copies `from` to `to`, and returns the tree of the bytes written.
[[nodiscard]] FileTree copy_hashed(int from, const std::filesystem::path& from_name, int to,
                                   const std::filesystem::path& to_name);

}  // namespace sabath
