// Fetches again what a verification found bad or missing, where a recipe knows a source of it. Main thread.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "sabath/recipe.h"
#include "store/store.h"

namespace sabath::cli {

class Repair {
 public:
  // Looks at what the store has of `recipes`, before anything is put aside.
  Repair(Context& context, Store& store, const std::vector<Recipe>& recipes);
  struct Asset {
    std::string name;
    std::uint64_t fetched_bytes = 0;
    std::vector<std::string> failures;  // empty: it is whole again
  };
  // Fetches those that are not whole any more.
  [[nodiscard]] std::vector<Asset> run();
  // Whether what was found bad is there and right again, or is nothing that anybody can miss.
  [[nodiscard]] bool is_mended(const BadChunk& bad);

 private:
  struct Had {
    Recipe recipe;
    Sha256 key, root;
    bool ref = false, view = false;
  };
  [[nodiscard]] bool is_whole(const Had& had);

  Context& context_;
  Store& store_;
  std::vector<Had> had_;
  std::set<Sha256> hints_;  // refs of fragments: without one, a source is asked once more
};

}  // namespace sabath::cli
