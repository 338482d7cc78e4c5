// The repositories of a hub that a store holds, by the notes of its refs. One thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "sabath/resolver.h"
#include "store/refs.h"
#include "store/store.h"

namespace sabath {

// A tree of the store that is a repository at a commit, or a part of one.
struct HubAsset {
  Sha256 root;  // of its manifest
  HubRevision hub;
  std::int64_t time = 0;  // when it was learnt, in seconds since 1970
};

class HubHoldings {
 public:
  explicit HubHoldings(Store& store) : reader_(store) {}
  [[nodiscard]] const std::vector<HubAsset>& all();  // looked up again; the newest first
  // The newest that is said to be this tree.
  [[nodiscard]] std::optional<HubAsset> find(const Sha256& root);

 private:
  RefReader reader_;
  std::vector<HubAsset> assets_;
};

}  // namespace sabath
