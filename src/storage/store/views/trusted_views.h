// Files in the views of trusted owners. In a store of several users any member may replace the name of an object, but
// the names in a view are its owner's alone: so another user's view leads to these. docs/store.md, "Several users".
// One thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "manifest/manifest.h"
#include "store/state.h"

namespace sabath {

class TrustedViews {
 public:
  // Those of others; of_user: this user's own.
  TrustedViews(Store::State& store, const Sha256& root);
  [[nodiscard]] static TrustedViews of_user(Store::State& store, const Sha256& root);
  // A regular file with the entry's content, in directories that only its owner writes; nullopt: none has it.
  [[nodiscard]] std::optional<std::filesystem::path> find(const Entry& entry);

 private:
  TrustedViews(Store::State& store, const Sha256& root, const std::vector<uid_t>& owners);
  struct View {
    std::filesystem::path directory;
    uid_t owner;
  };
  [[nodiscard]] bool is_owners_alone(const View& view, const std::filesystem::path& directory);

  Store::State& store_;
  std::vector<View> views_;
  std::set<std::filesystem::path> known_;  // directories that were looked at
};

}  // namespace sabath
