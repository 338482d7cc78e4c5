// An environment of conda's packages, and of wheels that a lock has beside them: unpacked, joined, made for one place.
// Its interpreter is the lock's own. One thread. Throws what packing and wheels throw; Error{invalid} by the names of
// packages for two that bring one file, for scripts that an installer would run, for files without room for the place.
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "environments/choose.h"
#include "fetch/hosts/space_guard.h"
#include "packing/pack_environment.h"
#include "packing/stored_environment.h"
#include "sabath/event.h"
#include "software/programs.h"
#include "store/store.h"

namespace sabath {

struct CondaAssemblyOrder {
  std::string name;                     // of the asset, for messages
  std::string place;                    // as checked_place() gives it
  std::vector<ChosenPackage> packages;  // of conda and of Python
  std::vector<Digest> contents;         // theirs, which are in the store; in the same order
  std::set<std::string> accepted;       // packages with scripts of an installer, .pth files, libraries of the nodes
  std::stop_token stop;
};

struct AssembledConda {
  PackedTree tree;
  StoredEnvironment stored;
};

[[nodiscard]] AssembledConda assemble_conda_environment(Store& store, Programs& programs, SpaceGuard& space,
                                                        EventSink& events, const CondaAssemblyOrder& order);

}  // namespace sabath
