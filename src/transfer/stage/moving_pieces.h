// The state of an exchange's pieces on their way: read, sent, received and written. Only the main thread uses it, but
// for the atomic members.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sabath/comm.h"
#include "stage/exchange.h"
#include "stage/node/piece_buffers.h"
#include "stage/plan/tape.h"

namespace sabath {

struct MovingPieces {
  using Held = std::shared_ptr<PieceBuffer>;

  struct Message {  // of a piece's
    Held buffer;
    unsigned number = 0;
    std::unique_ptr<Comm::Message> moving;
    std::size_t bytes = 0;  // of the piece, where it is sent
  };
  struct Waiting {  // a piece to be sent
    Held buffer;
    unsigned here = 0, begun = 0;  // of its messages
  };
  struct Sending {
    unsigned messages = 0;  // of each piece; 0: not known yet
    std::deque<Waiting> waiting;
    std::deque<Message> under_way;
  };
  struct Receiving {
    PieceBuffers pool{ExchangeRules{}.channel_buffers};
    unsigned from = Comm::any_rank, messages = 1;  // of each piece
    std::size_t to_come = 0;                       // pieces not yet asked for
    Message next;                                  // to ask for; without a buffer: of another piece
    std::deque<Message> under_way;
  };
  struct Reading {
    Reading(Held into, std::size_t piece_number, std::vector<PiecePart> its_parts)
        : buffer(std::move(into)), piece(piece_number), parts(std::move(its_parts)) {}
    Held buffer;
    std::size_t piece;
    std::vector<PiecePart> parts;
    std::atomic<std::size_t> left{parts.size()};
    std::atomic<bool> lost = false;  // a part of it failed, or was not begun before the stop
    // The main thread's:
    std::vector<bool> here = std::vector<bool>(parts.size());
    std::size_t front = 0;  // parts that are here, up to the first that is not
  };
  struct Read {
    std::shared_ptr<Reading> reading;
    std::optional<std::size_t> part;  // none: that was all, and it was checked
  };
  struct Written {
    Held buffer;
    bool kept;
  };
};

}  // namespace sabath
