#include "stage/plan/plan.h"

#include <algorithm>
#include <utility>

#include "stage/plan/trees.h"

namespace sabath {

bool Plan::needs(unsigned member, const PieceSet& has, std::size_t piece) const {
  if (!given_.lacking.has(piece) || given_.giver[piece] == member) return false;
  return given_.dealing.wants(member, piece) && (has.size() == 0 || !has.has(piece));
}

bool Plan::peer_needs(unsigned member, std::size_t piece) const {
  static const PieceSet nothing;
  const auto known = given_.peers.find(member);
  return needs(member, known == given_.peers.end() ? nothing : known->second, piece);
}

Plan::Plan(Given given) : given_(std::move(given)) {
  const auto reads = [&](unsigned member) {
    for (std::size_t p = 0; p < size(); ++p) {
      if (given_.unread.has(p) && giver(p) == member) return true;
    }
    return false;
  };
  heads_read_ =
      given_.dealing.replicate && reads(trees::head(0, given_.members)) && reads(trees::head(1, given_.members));
  if (!given_.dealing.replicate) return;
  head_gives_all_ = {true, true, false};
  for (std::size_t p = 0; p < size(); ++p) {
    const unsigned tree = channel(p);
    if (giver(p) != nobody && giver(p) != trees::head(tree, given_.members)) head_gives_all_.at(tree) = false;
  }
}

bool Plan::gives_alone(std::size_t piece) const {
  return head_gives_all_.at(channel(piece)) && giver(piece) == given_.me;
}

// A piece that a head reads goes down the head's own tree, without a way to the other head. Not if only one of them
// reads: the other tree's links would stand idle.
unsigned Plan::channel(std::size_t piece) const {
  if (!given_.dealing.replicate) return dealt_channel;
  for (unsigned tree = 0; tree < trees::count && heads_read_ && given_.unread.has(piece); ++tree) {
    if (giver(piece) == trees::head(tree, given_.members)) return tree;
  }
  return trees::of_piece(piece);
}

std::optional<unsigned> Plan::sender(unsigned channel, unsigned member) const {
  return channel == dealt_channel ? std::nullopt : trees::parent(channel, given_.members, member);
}

std::vector<Hop> Plan::hops(std::size_t piece) const {
  std::vector<Hop> all;
  if (!given_.lacking.has(piece)) return all;
  const unsigned channel = this->channel(piece);
  if (!given_.dealing.replicate) {
    if (giver(piece) != given_.me) return all;
    for (const std::uint32_t member : given_.dealing.hand_of(piece)) {
      if (peer_needs(member, piece)) all.push_back({member, channel});
    }
    return all;
  }
  const unsigned head = trees::head(channel, given_.members);
  if (giver(piece) == given_.me && head != given_.me && peer_needs(head, piece)) all.push_back({head, channel});
  for (const unsigned child : trees::children(channel, given_.members, given_.me)) {
    if (peer_needs(child, piece)) all.push_back({child, channel});
  }
  return all;
}

void assign_readers(std::vector<std::uint32_t>& giver, const Tape& tape, const PieceSet& unread,
                    const std::vector<unsigned>& readers, const Dealing& dealing, std::uint64_t stripe_bytes) {
  std::uint64_t bytes = 0, before = 0;
  const auto weight = [&](std::size_t piece) { return std::uint64_t{tape.pieces()[piece].bytes} + 1; };
  for (std::size_t p = 0; p < unread.size(); ++p) bytes += unread.has(p) ? weight(p) : 0;
  if (stripe_bytes > bytes / readers.size() / 2) stripe_bytes = 0;
  using Stripe = std::pair<std::uint32_t, std::uint64_t>;  // of a file
  std::optional<Stripe> last;
  std::size_t place = 0;
  for (std::size_t p = 0; p < unread.size(); ++p) {
    if (!unread.has(p)) continue;
    const Piece& piece = tape.pieces()[p];
    std::optional<Stripe> stripe;
    if (stripe_bytes > 0 && tape.is_chunk(piece)) stripe = {piece.first, piece.chunk * chunk_size_bytes / stripe_bytes};
    const double share = static_cast<double>(before) / static_cast<double>(bytes);
    if (!stripe || stripe != std::exchange(last, stripe)) {
      place = static_cast<std::size_t>(share * static_cast<double>(readers.size()));
    }
    before += weight(p);
    const std::uint32_t owner = dealing.replicate ? Plan::nobody : dealing.hand_of(p).front();
    giver[p] = std::ranges::binary_search(readers, owner) ? owner : readers[std::min(place, readers.size() - 1)];
  }
}

unsigned readers_for(std::uint64_t pieces, std::uint64_t small_files, unsigned readers_max) {
  constexpr std::uint64_t pieces_each = 32, files_each = 128;
  const std::uint64_t wanted = std::max(pieces / pieces_each, small_files / files_each);
  return static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, std::max(1U, readers_max)));
}

std::vector<unsigned> choose_readers(const std::vector<unsigned>& able, unsigned readers_max) {
  if (able.size() <= readers_max) return able;
  std::vector<unsigned> chosen;
  for (std::size_t i = 0; i < readers_max; ++i) {
    chosen.push_back(able[readers_max == 1 ? 0 : i * (able.size() - 1) / (readers_max - 1)]);
  }
  return chosen;
}

std::uint64_t offer(std::size_t piece, unsigned member, unsigned members) {
  const auto distance = static_cast<std::uint64_t>((member + piece) % members);
  return distance << 32U | member;
}

}  // namespace sabath
