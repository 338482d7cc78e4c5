// An environment of a lock: an interpreter and its wheels, each of which is unpacked, mended and compiled once; what
// the store holds of them already is only named. One thread, with threads of its own. Throws what the files of wheels
// and packing throw.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "environments/choose.h"
#include "fetch/hosts/space_guard.h"
#include "packing/pack_environment.h"
#include "packing/prefix_source.h"
#include "packing/stored_environment.h"
#include "sabath/event.h"
#include "software/programs.h"
#include "store/store.h"

namespace sabath {

struct AssemblyOrder {
  PrefixSource interpreter;
  std::vector<ChosenPackage> packages;  // in the order of their names
  std::vector<Digest> wheels;           // their content, which is in the store; in the same order
  std::set<std::string> accepted;       // .pth files, libraries of the nodes
  std::stop_token stop;
};

struct AssembledEnvironment {
  PackedTree tree;
  StoredEnvironment stored;
  std::uint64_t known_packages = 0;  // that the store held packed
};

[[nodiscard]] AssembledEnvironment assemble_environment(Store& store, Programs& programs, SpaceGuard& space,
                                                        EventSink& events, const AssemblyOrder& order);

}  // namespace sabath
