// Room promised to a fetch in a store: other fetches subtract the part that is not written yet, so that two that run at
// the same time do not both count on the last bytes. docs/store.md, "Reservations".
//
// The writing fetch owns it, and ends it. It must not outlive its Store. Any thread. A reservation that cannot be
// written (a read-only store, a full disk) is not held, and that is no error: no other process knows of it then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "machine/limits.h"
#include "store/store.h"

namespace sabath {

// The sum of the other writers' live reservations. Reads, and changes nothing.
[[nodiscard]] Promised promised_by_others(Store& store);

// Removes the reservations of writers that are known to be dead, or have long been silent; returns how many.
std::uint64_t remove_dead_reservations(Store::State& store);

class Reservation {
 public:
  Reservation(Store& store, std::string note);  // `note`: for people
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();  // ends it

  // Says why the room asked for does not fit beside the promises to others and to this one before; nullopt: it fits.
  // Looks at the disk at each call.
  using Judge = std::function<std::optional<Failure>(const Promised& others, const Promised& own)>;
  // Asks for this room besides. Of several processes that ask at once for room that only one can have, one gets it.
  // Throws the judge's Failure as Error, and nothing was promised then; Error{interrupted}.
  void grow(std::uint64_t bytes, std::uint64_t inodes, const Judge& judge, const std::stop_token& stop = {});
  void shrink(std::uint64_t bytes, std::uint64_t inodes);  // this room will not be written after all

 private:
  class Holding;
  std::unique_ptr<Holding> holding_;
};

}  // namespace sabath
