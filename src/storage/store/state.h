// The state of an open store: its stock, and the stores where it looks for content that it lacks. For the rooms of
// src/storage/store that see the whole store; lower rooms take a Stock, a Disk or one of their members.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/leases/uses.h"
#include "store/packs/stock.h"
#include "store/store.h"

namespace sabath {

struct Store::State : Stock {
  explicit State(const std::filesystem::path& directory);
  // As each user who has aliases sees it, this one first; listed once, as a hint that is missed costs a fetch.
  [[nodiscard]] const std::vector<Layout>& as_all_see();

  SourceNames names;                           // set before the store is used, as `others` are: store/lookup.h
  std::vector<std::unique_ptr<Store>> others;  // read for content that this one lacks, in this order
  std::uint64_t pack_threshold = 0;            // bytes; 0: each file is an object
  std::string job;                             // see work_for()
  Uses uses;

 private:
  std::once_flag all_listed_;
  std::vector<Layout> as_all_see_;
};

}  // namespace sabath
