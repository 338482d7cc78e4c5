// Writes small contents into packs, one behind the other as they come; a pack gets its name when it is full, or when
// the caller publishes it. A pack without a name ends with this object. Thread-safe. Throws Error{space},
// Error{storage}.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "sabath/digest.h"
#include "store/store.h"

namespace sabath {

class PackStream {
 public:
  explicit PackStream(Store& store);
  ~PackStream();
  PackStream(PackStream&&) noexcept;
  PackStream& operator=(PackStream&&) noexcept;

  struct Content {
    Digest digest;  // the hash of `bytes`
    std::span<const std::byte> bytes;
  };
  // At most Store::pack_threshold() bytes each. Skips content that stands in a pack already. True: a pack is full, and
  // waits for publish_full() or seal_full().
  bool add(std::span<const Content> contents);
  bool add(const Digest& digest, std::span<const std::byte> bytes) { return add({{Content{digest, bytes}}}); }
  void publish_full();  // returns when this thread's packs are durable; other threads may still publish theirs
  void publish_all();   // also packs that are not full
  void seal_full();     // makes full packs durable and closes them, still without names

 private:
  struct Open;
  struct Shared;
  void publish(std::vector<std::unique_ptr<Open>> packs);
  std::unique_ptr<Shared> shared_;
};

}  // namespace sabath
