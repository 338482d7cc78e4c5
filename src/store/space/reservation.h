// Room that a fetch was promised in a store: others subtract what of it is not written yet, so that two that run at the
// same time do not both count on the last bytes. docs/store.md, "Reservations".
//
// Owned by whoever writes, which ends with it; it must not outlive its Store. Any thread. A reservation that cannot be
// written (a read-only store, a full disk) is not held, and that is no error: nobody else knows of it then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/machine/limits.h"
#include "store/store.h"

namespace sabath {

// What live reservations of others expect. Reads, and changes nothing.
[[nodiscard]] Promised promised_by_others(Store& store);

// Those of writers that are known to be dead, or have long been silent, are removed; how many there were.
std::uint64_t remove_dead_reservations(Store::State& store);

class Reservation {
 public:
  Reservation(Store& store, std::string note);  // `note`: for people
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();  // ends it

  // Says why so much more does not fit beside what others were promised, and this one itself before; nullopt: it does.
  // It looks at the disk each time it is asked.
  using Judge = std::function<std::optional<Failure>(const Promised& others, const Promised& own)>;
  // Asks for so much more. Of several processes that ask at once for what only one can have, one gets it. Throws the
  // judge's Failure as Error, and nothing was promised then; Error{interrupted}.
  void grow(std::uint64_t bytes, std::uint64_t inodes, const Judge& judge, const std::stop_token& stop = {});
  void shrink(std::uint64_t bytes, std::uint64_t inodes);  // it will not be written after all

 private:
  class Holding;
  std::unique_ptr<Holding> holding_;
};

}  // namespace sabath
