// Moves pieces as a plan says: read, sent, received, passed on and written side by side, in bounded memory.
//
// The calling (main) thread makes all calls of Comm; workers read and write. All that read do so for one piece before
// the next, part by part: so the first is soon on its way, and the last ones do not come all at once. Each channel has
// buffers of its own, so that waiting for room in one tree never waits for the other: both are free of cycles, and what
// a member reads waits only for them. Down a tree a piece goes in parts, each passed on as soon as it is here, before
// anything is written. Where one member gives all that goes down the tree, it sends parts while it reads the rest; the
// last part goes when the whole piece was found right. A member that cannot read a piece tells those that should
// get it that it is missing: the exchange always comes to its end, and failures are data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

#include "sabath/comm.h"
#include "sabath/error.h"
#include "stage/beat.h"
#include "stage/plan/piece_set.h"
#include "stage/plan/plan.h"
#include "stage/plan/tape.h"

namespace sabath {

struct ExchangeWork {  // all throw Error; any worker, `worker` below the number of threads
  // Part of a piece: from the shared store, or from this member's own.
  using Read =
      std::function<void(std::size_t piece, const PiecePart& part, std::span<std::byte> room, unsigned worker)>;
  Read read_shared, read_own;
  std::function<void(std::size_t piece, std::span<const std::byte> bytes)> check;  // all parts, once they are read
  // Checks (unless `verified`) and keeps the piece here.
  std::function<void(std::size_t piece, std::span<const std::byte> bytes, bool verified, unsigned worker)> write;
  std::function<void(const Beat::Words& all)> on_beat;  // main thread
};

struct ExchangeResult {
  PieceSet kept;                                     // written here now
  std::uint64_t shared_bytes = 0;                    // read from the shared store
  std::uint64_t received_bytes = 0, sent_bytes = 0;  // payload, from and to other members
  std::optional<Failure> failure;                    // the first of this member
  std::optional<std::size_t> unreadable;             // a piece that this member could not read from the shared store
  bool stopped = false;                              // some member was asked to stop
};

// How much is on its way at once.
struct ExchangeRules {
  unsigned receives_at_once = 2, sends_at_once = 2;  // messages: on a channel; to one member on one channel
  unsigned channel_buffers = 4;                      // to receive into
  unsigned spare_reads = 2;                          // buffers besides one for each reading thread
  unsigned parts = 4;                                // of a piece, each read and passed on by itself

  // The fewer pieces there are, the more the time counts in which the last one passes all members.
  [[nodiscard]] static ExchangeRules for_pieces(std::uint64_t pieces) { return {.parts = pieces <= 64 ? 16U : 4U}; }
  [[nodiscard]] std::uint32_t part_bytes() const { return static_cast<std::uint32_t>(chunk_size_bytes / parts); }
  // In how many messages a piece comes by a channel to a member: one, if the member has several senders.
  [[nodiscard]] unsigned messages(const Plan& plan, unsigned channel, unsigned member) const {
    return plan.sender(channel, member) ? parts : 1;
  }
};

struct ExchangeThreads {
  unsigned readers = 4, writers = 4;
};

// Collective over `comm`, whose members are among the beat's ranks; over when all of them say that they are done.
// `stop` on one rank stops all of them.
[[nodiscard]] ExchangeResult exchange(Comm& comm, Beat& beat, const Plan& plan, const Tape& tape,
                                      const ExchangeWork& work, const ExchangeThreads& threads,
                                      const std::stop_token& stop);

}  // namespace sabath
