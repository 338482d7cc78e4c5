// What content would take on the disk of a store, before it is there: the one place that knows how files are laid out.
// Plain sums; one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

class Footprint {
 public:
  // Of content that is published as `of_files` files together into `store` (nullptr: a new one).
  Footprint(Store* store, std::uint64_t of_files);
  void add_file(std::uint64_t size_bytes, std::uint64_t held_bytes = 0);  // `held`: on the disk already
  // The view of a whole asset: links to what is there.
  void add_view(const Totals& totals);      // after its files: what is packed has none
  void add_copy(std::uint64_t size_bytes);  // an executable's: its mode is its own
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t inodes() const;

 private:
  bool packs_ = false;
  std::uint64_t pack_threshold_ = 0;
  std::uint64_t bytes_ = 0, inodes_ = 0, objects_ = 0, packed_ = 0, packed_bytes_ = 0;
  std::uint64_t directories_there_ = 0;  // below objects/
};

// Which content stands in a store, or in those that it looks into, by its name alone: nothing is opened, believed or
// changed. It is what a fetch would find, but for damage.
class Standing {
 public:
  // `questions`: about how many will be asked; for many all names are read once.
  Standing(Store* store, std::uint64_t questions);  // nullptr: there is no store, and nothing stands
  ~Standing();
  enum class Place { nowhere, here, linked, copied };  // the last two: in another store, and would come so
  [[nodiscard]] Place place_of(const Digest& file) const;
  [[nodiscard]] bool has(const Digest& file) const { return place_of(file) != Place::nowhere; }
  // False: neither it nor the trash, from which what is missed comes back, had it when this was made. Whoever is to
  // find thousands of files missing spares each of them half a dozen calls.
  [[nodiscard]] bool may_have(const Digest& file) const;

 private:
  struct Names;
  Store* store_;
  std::unique_ptr<Names> names_;
};

}  // namespace sabath
