// The clones that a bare clone's submodules were taken from. The fetch notes them beside the clone, so that a run's
// copy of the tree can be a work tree that git knows. Any thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath {

struct SubmoduleClone {
  std::string path;             // in the tree of the clone that names it
  std::filesystem::path clone;  // bare, beside that clone
  std::string commit;           // full name
  std::string origin;           // the URL it was fetched from
};

void write_submodule_clones(const std::filesystem::path& bare, const std::vector<SubmoduleClone>& clones);
// The noted clones that are still there. An unreadable note names none.
[[nodiscard]] std::vector<SubmoduleClone> read_submodule_clones(const std::filesystem::path& bare);

}  // namespace sabath
