// Many files that this process, or programs that it ran and that have ended, made in the store's own temporary
// directory become objects: hashed side by side, synced together, renamed, never copied. Small ones of many are copied
// into packs. One thread; it has threads of its own. Throws Error{storage}, Error{space}, Error{interrupted},
// Error{invalid} for what is no regular file of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "manifest/file_tree.h"
#include "store/store.h"

namespace sabath {

class SyncGroup;

struct TakenFile {
  FileTree tree;
  bool executable = false;
};

class TakesMany {
 public:
  explicit TakesMany(Store& store);  // before the files are made: what the disk loses from then on is reported
  // `files`: paths below `top`, which is below Store::make_temporary_directory(); they are gone then. The answer
  // has their order. `on_bytes` may be empty; one call at a time.
  [[nodiscard]] std::vector<TakenFile> take(const std::filesystem::path& top, const std::vector<std::string>& files,
                                            const std::function<void(std::uint64_t)>& on_bytes,
                                            const std::stop_token& stop);

 private:
  Store& store_;
  const std::shared_ptr<SyncGroup> group_;
};

}  // namespace sabath
