// The room that a fetch may still fill: refused before byte one where it does not fit, and else promised to the fetch,
// so that others do not count on it. Thread-safe. Throws Error{space} with the numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "machine/limits.h"
#include "store/space/reservation.h"
#include "store/store.h"

namespace sabath {

class SpaceGuard {
 public:
  // The need that is known beforehand, and its purpose.
  struct Ahead {
    Need need;
    std::string what;
  };
  // For a process that works for another, which has reserved: free room as it is now, less what it promises itself.
  SpaceGuard(Space space, std::string store);
  // Reserves in the store, where the other fetches see it. `ahead` (may be empty) is asked once, before the first
  // promise, and reserved as a whole; it may throw.
  SpaceGuard(Store& store, std::string note, std::function<Ahead()> ahead, std::stop_token stop);

  // Promises room for these bytes and inodes, or refuses before byte one.
  void reserve(std::uint64_t bytes, std::uint64_t inodes, const std::string& what) {
    reserve(Need{bytes, inodes, 0, ""}, what);
  }
  void reserve(const Need& need, const std::string& what);
  void give_back(std::uint64_t bytes, std::uint64_t inodes);
  // So little room is left that a file of unknown size may not fit: ask its source for the size before it sends.
  [[nodiscard]] bool tight();
  // The limits that could not be read; for `-v`.
  [[nodiscard]] std::vector<std::string> unknown();

 private:
  void reserve_ahead();
  void check_file(const Need& need, const std::string& what) const;
  void grow(const Need& need, const std::string& what);

  std::mutex mutex_;     // of all that follows
  Limits limits_;        // with a fixed room: what is left; else as they were last read
  Space promised_left_;  // granted by the store's reservation, and not promised here yet
  std::uint64_t granted_bytes_ = 0, granted_inodes_ = 0;
  Store* store_ = nullptr;
  std::optional<Reservation> reservation_;
  std::function<Ahead()> ahead_;
  std::stop_token stop_;
};

}  // namespace sabath
