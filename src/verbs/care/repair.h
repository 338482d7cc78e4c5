// Fetches again what a verification found bad or missing, where a recipe knows a source of it. One thread.
#pragma once

#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/recipe.h"
#include "sabath/session.h"
#include "sabath/verification.h"
#include "store/store.h"

namespace sabath {

class Repair {
 public:
  // Looks at what the store has of `recipes`, before anything is put aside.
  Repair(const SessionSettings& settings, Store& store, const std::vector<Recipe>& recipes);
  // Fetches those that are not whole any more.
  [[nodiscard]] std::vector<RepairedAsset> run(EventSink& events, const std::stop_token& stop);
  // Whether what was found bad is there and right again, or is nothing that anybody can miss.
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
