// Fetches again the assets that a verification found bad or missing, if a recipe knows a source. One thread.
#pragma once

#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/recipe.h"
#include "sabath/session.h"
#include "sabath/verbs/verify.h"
#include "store/store.h"

namespace sabath {

class Repair {
 public:
  // Looks at what the store has of `recipes`, before anything is put aside.
  Repair(const SessionSettings& settings, Store& store, const std::vector<Recipe>& recipes);
  // Fetches those that are not whole any more.
  [[nodiscard]] std::vector<RepairedAsset> run(EventSink& events, const std::stop_token& stop);
  // True if the bad item is there and right again, or if its loss costs no asset: a hint, or a file that is no ref.
  [[nodiscard]] bool is_mended(const BadChunk& bad);

 private:
  struct Had {
    Recipe recipe;
    Sha256 key, root;
    bool ref = false, view = false;
  };
  [[nodiscard]] bool is_whole(const Had& had);

  const SessionSettings& settings_;
  Store& store_;
  std::vector<Had> had_;
  std::set<Sha256> hints_;  // refs of fragments: without one, a source is asked once more
};

}  // namespace sabath
