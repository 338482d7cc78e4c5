// Sums the room that content will take on the disk of a store: the one place that knows how files are laid out. Plain
// sums; one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

class Footprint {
 public:
  // For content that is published as `of_files` files together into `store` (nullptr: a new one).
  Footprint(Store* store, std::uint64_t of_files);
  void add_file(std::uint64_t size_bytes, std::uint64_t held_bytes = 0);  // `held`: on the disk already
  // The view of a whole asset: links to what is there.
  void add_view(const Totals& totals);      // after its files: a packed asset has none
  void add_copy(std::uint64_t size_bytes);  // an executable's: its mode is its own
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t inodes() const;

 private:
  bool packs_ = false;
  std::uint64_t pack_threshold_ = 0;
  std::uint64_t bytes_ = 0, inodes_ = 0, objects_ = 0, packed_ = 0, packed_bytes_ = 0;
  std::uint64_t directories_there_ = 0;  // below objects/
};

// Tells by names alone which content stands in a store, or in those that it looks into: it opens, trusts and changes
// nothing. A fetch would find the same, but for damage.
class Standing {
 public:
  // `questions`: about how many will be asked; for many, it reads all names once.
  Standing(Store* store, std::uint64_t questions);  // nullptr: there is no store, and nothing stands
  ~Standing();
  enum class Place { nowhere, here, linked, copied };  // the last two: in another store, and would come so
  [[nodiscard]] Place place_of(const Digest& file) const;
  [[nodiscard]] bool has(const Digest& file) const { return place_of(file) != Place::nowhere; }
  // False: neither the store nor its trash, from which missed content comes back, had it when this was made. A fetch of
  // thousands of missing files saves half a dozen calls for each.
  [[nodiscard]] bool may_have(const Digest& file) const;

 private:
  struct Names;
  Store* store_;
  std::unique_ptr<Names> names_;
};

}  // namespace sabath
