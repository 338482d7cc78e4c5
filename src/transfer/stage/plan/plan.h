// Which member gives which piece to whom: the same on all members, as each computes it from what all have told. Pure.
//
// Every piece that some member lacks has one giver: a member that has it, elected, or a reader, which takes it from the
// shared store. So the shared store is read once, and not for what any node has. Replicated pieces go from the giver to
// the head of their tree and down (stage/plan/trees.h); a member gives a piece to those of its children that lack it.
// Dealt pieces go from the giver straight to the members that want them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "stage/plan/piece_set.h"
#include "stage/plan/tape.h"

namespace sabath {

// Which members want a piece. replicate: all. Else those that want it form a hand, and many pieces have the same one.
struct Dealing {
  bool replicate = true;
  std::vector<std::vector<std::uint32_t>> hands;  // each: members, none twice; the first reads it, if it can
  std::vector<std::uint32_t> hand;                // of each piece

  [[nodiscard]] const std::vector<std::uint32_t>& hand_of(std::size_t piece) const { return hands[hand[piece]]; }
  [[nodiscard]] bool wants(unsigned who, std::size_t piece) const {
    return replicate || std::ranges::find(hand_of(piece), who) != hand_of(piece).end();
  }
};

struct Hop {
  unsigned member, channel;
  friend auto operator<=>(const Hop&, const Hop&) = default;
};

class Plan {
 public:
  static constexpr unsigned channels = 3;  // one for each tree, and one for what is dealt
  static constexpr unsigned dealt_channel = 2;
  static constexpr std::uint32_t nobody = UINT32_MAX;

  struct Given {
    unsigned members = 1, me = 0;
    Dealing dealing;
    PieceSet mine;                     // what I have
    PieceSet lacking;                  // what some member lacks
    PieceSet unread;                   // what no member has
    std::vector<std::uint32_t> giver;  // of each piece; `nobody`: no member lacks it
    // The holdings of the members that I may give to: my children and the heads, or the hands of what I give.
    std::map<unsigned, PieceSet> peers;
  };
  explicit Plan(Given given);

  [[nodiscard]] unsigned giver(std::size_t piece) const { return given_.giver[piece]; }
  [[nodiscard]] bool reads(std::size_t piece) const {  // I, from the shared store
    return given_.unread.has(piece) && given_.giver[piece] == given_.me;
  }
  [[nodiscard]] bool wants(std::size_t piece) const { return given_.dealing.wants(given_.me, piece); }
  [[nodiscard]] bool has(std::size_t piece) const { return given_.mine.has(piece); }
  [[nodiscard]] bool receives(std::size_t piece) const { return needs(given_.me, given_.mine, piece); }
  [[nodiscard]] unsigned channel(std::size_t piece) const;
  // I give all that goes down the tree of this piece: no other member's pieces wait if it goes before it is whole.
  [[nodiscard]] bool gives_alone(std::size_t piece) const;
  // The member that sends all that comes to `member` by a channel; nullopt: several do.
  [[nodiscard]] std::optional<unsigned> sender(unsigned channel, unsigned member) const;
  // The members that this one gives a piece to, once it has it.
  [[nodiscard]] std::vector<Hop> hops(std::size_t piece) const;
  [[nodiscard]] std::size_t size() const { return given_.giver.size(); }

 private:
  [[nodiscard]] bool needs(unsigned member, const PieceSet& has, std::size_t piece) const;
  [[nodiscard]] bool peer_needs(unsigned member, std::size_t piece) const;
  Given given_;
  bool heads_read_ = false;                      // both of them, from the shared store
  std::array<bool, channels> head_gives_all_{};  // that goes down its tree
};

// Gives each piece of `unread` to one of `readers`: contiguous parts of about the same number of bytes. For dealt
// pieces the owner reads, if it is a reader. `stripe_bytes` of a file lie together on one server, and one reads them;
// not where a stripe is more than half of a reader's part. 0: not known.
void assign_readers(std::vector<std::uint32_t>& giver, const Tape& tape, const PieceSet& unread,
                    const std::vector<unsigned>& readers, const Dealing& dealing, std::uint64_t stripe_bytes = 0);

// How many members read, at most `readers_max`: one for each 32 pieces, as few pieces by many readers come all at once
// and late, and the links have nothing to do until then. But opening a file takes time, even an empty one: one for each
// 128 small files, if that is more.
[[nodiscard]] unsigned readers_for(std::uint64_t pieces, std::uint64_t small_files, unsigned readers_max);

// The members that read, out of those that see the shared store: evenly spread from the first to the last, which are
// the heads of the trees, at most `readers_max`.
[[nodiscard]] std::vector<unsigned> choose_readers(const std::vector<unsigned>& able, unsigned readers_max);

// The bid of a member that has a piece: the minimum wins, and its low 32 bits are the winner's number. The bids are
// spread, so that several members with the same pieces share the work.
[[nodiscard]] std::uint64_t offer(std::size_t piece, unsigned member, unsigned members);

}  // namespace sabath
