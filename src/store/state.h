// What an open store consists of: its stock, and where it looks when it lacks something. For the rooms of src/store
// that see the whole store; what lies below the door takes a Stock, a Disk or one of their members.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/leases/uses.h"
#include "store/packs/stock.h"
#include "store/store.h"

namespace sabath {

struct Store::State : Stock {
  explicit State(const std::filesystem::path& directory);

  SourceNames names;                           // set before the store is used, as `others` are: store/lookup.h
  std::vector<std::unique_ptr<Store>> others;  // read where this one lacks something, in this order
  std::uint64_t pack_threshold = 0;            // bytes; 0: each file is an object
  std::string job;                             // see work_for()
  Uses uses;
};

}  // namespace sabath
