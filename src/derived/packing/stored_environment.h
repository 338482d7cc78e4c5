// A packed tree on its way into the store: a place of its own below the store's temporary ones, then objects and a
// manifest. Small files of a large tree are copied into packs. One thread. Throws Error{space}, Error{storage},
// Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>

#include "packing/tree_copy.h"
#include "sabath/event.h"
#include "store/store.h"
#include "store/take_many.h"

namespace sabath {

class PackingPlace {
 public:
  explicit PackingPlace(Store& store);
  ~PackingPlace();
  PackingPlace(const PackingPlace&) = delete;
  PackingPlace& operator=(const PackingPlace&) = delete;
  [[nodiscard]] std::filesystem::path tree() const { return directory_ / "tree"; }
  [[nodiscard]] TakesMany& takes() { return takes_; }

 private:
  TakesMany takes_;
  std::filesystem::path directory_;
};

struct StoredEnvironment {
  Sha256 root;
  std::uint64_t files = 0, bytes = 0;
};

// The files of the place's tree are gone from there then.
[[nodiscard]] StoredEnvironment store_environment(Store& store, PackingPlace& place, EventSink& events,
                                                  const std::stop_token& stop);
// The store's rule for local files: all who read it must be able to read them where they are. Throws Error{access}.
[[nodiscard]] AdmitsFile admits_of(const Store& store);
// Its directories, which may be empty, and symlinks.
void add_directories_and_links(ManifestBuilder& builder, const std::filesystem::path& tree);

}  // namespace sabath
