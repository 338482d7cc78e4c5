// reservations/<writer>+<n>: how much a running fetch still expects to write, and whether it can still be running.
// docs/store.md, "Reservations". Free functions; any thread. They throw nothing but std::bad_alloc: an unreadable file
// promises nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/disk/layout.h"
#include "store/disk/writer.h"

namespace sabath {

struct ReservationText {
  std::string note, job;                          // for people
  std::uint64_t bytes = 0, inodes = 0;            // granted, and not written yet
  std::uint64_t more_bytes = 0, more_inodes = 0;  // asked for besides; not granted yet
  bool waits = false;                             // until earlier requests have an answer
  friend bool operator==(const ReservationText&, const ReservationText&) = default;

  [[nodiscard]] bool asks() const { return !waits && (more_bytes > 0 || more_inodes > 0); }
};

[[nodiscard]] std::string encode_reservation(const ReservationText& reservation);
[[nodiscard]] std::optional<ReservationText> try_decode_reservation(std::string_view text);

struct FoundReservation {
  std::filesystem::path file;
  std::string name;  // <writer>+<n>
  ReservationText text;
  std::uint32_t user = 0;  // whose file it is
  bool live = false;       // its writer is alive, or unknown and refreshed it lately
};

// All of them, live ones and others; a damaged one promises nothing. `now_ns` by the server's clock: called only where
// a writer cannot be looked up.
[[nodiscard]] std::vector<FoundReservation> read_reservations(const Layout& layout, const HostId& here,
                                                              const std::function<std::int64_t()>& now_ns);

}  // namespace sabath
