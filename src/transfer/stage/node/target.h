// The place of a node's staged content: a directory DIR with its store DIR/.sabath and the views DIR/NAME; or several
// directories of one node together, by `--to A,B`: see local_disks.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sabath/comm.h"
#include "sabath/event.h"
#include "sabath/verbs/stage.h"

namespace sabath {

using Directories = std::vector<std::filesystem::path>;

// "A,B" are two directories, "A,,B" is one with a comma in its name; {node} and {rank} become this one's numbers.
// Throws Error{usage} for other braces, and unless several are absolute and different.
[[nodiscard]] Directories expand_target(const std::string& pattern, const Comm& comm);

// The first of the request's places whose directories can all be written to: made if absent, tried with a file, each on
// a filesystem of its own. Those that were guessed must each be this user's alone, and no symlink. Throws
// Error{storage} with what was wrong with each.
[[nodiscard]] Directories choose_target(const StageRequest& request, const Comm& comm);

struct TargetOwner {
  unsigned rank = 0;  // of `leaders`
  bool of_all = true;
};
// Collective over the nodes' leaders. By files that each leaves for a moment: the lowest of those that see the same
// directories, this one's rank if they are its own. Not `of_all`, and its own: it shares some of them, not all.
[[nodiscard]] TargetOwner owner_of_target(Comm& leaders, const Directories& directories);

// Says of each directory in memory that the job's memory is what fills: where it ends, the system kills the job, and
// says nothing of these files.
void warn_of_memory(const Directories& directories, const std::string& asset, std::uint64_t bytes, EventSink& events);

// DIR/NAME -> .sabath/views/<root>, replaced atomically. Throws Error{storage} if something else stands there.
void show_view(const std::filesystem::path& directory, const std::string& name, const std::filesystem::path& view);

}  // namespace sabath
