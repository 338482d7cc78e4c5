// Where a node's staged content goes: a directory DIR with its store DIR/.sabath and the views DIR/NAME.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "comm/comm.h"

namespace sabath {

// {node} and {rank} in `pattern` become this one's numbers. Throws Error{usage} for other braces.
[[nodiscard]] std::filesystem::path expand_target(const std::string& pattern, const Comm& comm);

// The first of `patterns` that can be written to: made if it is absent, tried with a file. Throws Error{storage} with
// what was wrong with each.
[[nodiscard]] std::filesystem::path choose_target(const std::vector<std::string>& patterns, const Comm& comm);

// Collective over the nodes' leaders. By files that each leaves for a moment: the lowest of those that see the same
// directory, this one's rank if the directory is its own.
[[nodiscard]] unsigned owner_of_target(Comm& leaders, const std::filesystem::path& directory);

// DIR/NAME -> .sabath/views/<root>, replaced atomically. Throws Error{storage} if something else stands there.
void show_view(const std::filesystem::path& directory, const std::string& name, const std::filesystem::path& view);

}  // namespace sabath
