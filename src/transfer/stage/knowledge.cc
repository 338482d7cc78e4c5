#include "stage/knowledge.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>

#include "base/wording.h"
#include "sabath/error.h"
#include "stage/plan/trees.h"

namespace sabath {
namespace {

constexpr unsigned channel = 8;

// Of the members that have a piece that others lack, one gives it.
void elect(Comm& members, const PieceSet& mine, const Known& known, std::vector<std::uint32_t>& giver) {
  std::vector<std::uint64_t> offers;
  for (std::size_t p = 0; p < mine.size(); ++p) {
    if (!known.lacking.has(p) || known.unread.has(p)) continue;
    offers.push_back(mine.has(p) ? offer(p, members.rank(), members.size()) : UINT64_MAX);
  }
  members.all_reduce(offers, Reduction::minimum);
  auto best = offers.begin();
  for (std::size_t p = 0; p < mine.size(); ++p) {
    if (known.lacking.has(p) && !known.unread.has(p)) giver[p] = static_cast<std::uint32_t>(*best++);
  }
}

void wait(Comm::Message& message) {
  for (auto pause = std::chrono::microseconds(20); !message.done();) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
}

// The holdings of the children in either tree and of the heads: this member may give to them.
std::map<unsigned, PieceSet> hear_of_peers(Comm& members, const PieceSet& mine) {
  const unsigned size = members.size(), me = members.rank();
  std::map<unsigned, PieceSet> peers;
  std::set<unsigned> parents;
  for (unsigned tree = 0; tree < trees::count; ++tree) {
    for (const unsigned child : trees::children(tree, size, me)) peers.try_emplace(child, mine.size());
    if (const auto parent = trees::parent(tree, size, me)) parents.insert(*parent);
  }
  PieceSet told = mine;
  std::vector<std::unique_ptr<Comm::Message>> messages;
  for (auto& [child, has] : peers) {
    messages.push_back(members.begin_receive(std::as_writable_bytes(has.words()), child, channel));
  }
  for (const unsigned parent : parents) {
    messages.push_back(members.begin_send(std::as_bytes(told.words()), parent, channel));
  }
  for (const auto& message : messages) wait(*message);
  for (unsigned tree = 0; tree < trees::count; ++tree) {
    const unsigned head = trees::head(tree, size);
    std::string bytes(reinterpret_cast<const char*>(told.words().data()), told.words().size_bytes());
    members.broadcast(bytes, head);
    if (head == me) continue;
    PieceSet has(mine.size());
    std::ranges::copy(std::as_bytes(std::span(bytes)), std::as_writable_bytes(has.words()).begin());
    peers.insert_or_assign(head, std::move(has));
  }
  return peers;
}

// By member that wants them: the pieces given by this member that it has already.
std::map<unsigned, PieceSet> hear_of_hands(Comm& members, const Dealing& dealing, const PieceSet& mine,
                                           const Known& known, const std::vector<std::uint32_t>& giver) {
  std::vector<std::pair<std::size_t, std::uint32_t>> places;  // piece and member: a bit for each
  for (std::size_t p = 0; p < mine.size(); ++p) {
    if (!known.lacking.has(p) || known.unread.has(p) || dealing.hand_of(p).size() < 2) continue;
    for (const std::uint32_t member : dealing.hand_of(p)) places.emplace_back(p, member);
  }
  PieceSet held(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].second == members.rank() && mine.has(places[i].first)) held.add(i);
  }
  members.all_reduce(held.words(), Reduction::bit_or);
  std::map<unsigned, PieceSet> peers;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto [piece, member] = places[i];
    if (held.has(i) && giver[piece] == members.rank()) peers.try_emplace(member, mine.size()).first->second.add(piece);
  }
  return peers;
}

std::vector<unsigned> members_of(const PieceSet& who) {
  std::vector<unsigned> all;
  for (unsigned m = 0; m < who.size(); ++m) {
    if (who.has(m)) all.push_back(m);
  }
  return all;
}

unsigned readers_of(const Tape& tape, const PieceSet& unread, unsigned readers_max) {
  std::uint64_t pieces = 0, small_files = 0;
  for (std::size_t p = 0; p < unread.size(); ++p) {
    if (!unread.has(p)) continue;
    ++pieces;
    small_files += tape.is_chunk(tape.pieces()[p]) ? 0 : tape.pieces()[p].files;
  }
  return readers_for(pieces, small_files, readers_max);
}

}  // namespace

std::vector<unsigned> able_members(Comm& members, bool able) {
  PieceSet who(members.size());
  if (able) who.add(members.rank());
  members.all_reduce(who.words(), Reduction::bit_or);
  return members_of(who);
}

Known tell_all(Comm& members, const Dealing& dealing, const PieceSet& mine, const Readers& readers) {
  PieceSet lacking(mine.size()), who(members.size());
  for (std::size_t p = 0; p < mine.size(); ++p) {
    if (!mine.has(p) && dealing.wants(members.rank(), p)) lacking.add(p);
  }
  if (readers.able) who.add(members.rank());
  PieceSet held = mine;
  const std::array sets{held.words(), lacking.words(), who.words()};
  std::vector<std::uint64_t> told{readers.stripe_bytes};  // all at once: each reduction takes its time
  for (const auto words : sets) told.insert(told.end(), words.begin(), words.end());
  members.all_reduce(told, Reduction::bit_or);
  auto from = told.begin() + 1;
  for (const auto words : sets) {
    std::copy_n(from, words.size(), words.begin());
    from += std::ssize(words);
  }
  PieceSet unread(mine.size());
  for (std::size_t p = 0; p < mine.size(); ++p) {
    if (lacking.has(p) && !held.has(p)) unread.add(p);
  }
  return {std::move(lacking), std::move(unread), members_of(who), held.count() > 0, told.front()};
}

Agreed agree_on_plan(Comm& members, const Tape& tape, const Dealing& dealing, const PieceSet& mine,
                     const Readers& readers) {
  Known known = tell_all(members, dealing, mine, readers);
  std::vector<std::uint32_t> giver(mine.size(), Plan::nobody);
  if (known.any) elect(members, mine, known, giver);
  auto& able = known.able;
  if (dealing.replicate) able = choose_readers(able, readers_of(tape, known.unread, readers.max));
  if (able.empty() && known.unread.count() > 0) {
    throw Error(
        FailureKind::usage, "no node sees the shared store, and some content is on no node",
        fmt::format("name a store on a filesystem that the nodes see with {} (SABATH_STORE)", option_text("store")));
  }
  if (!able.empty()) assign_readers(giver, tape, known.unread, able, dealing, known.stripe_bytes);
  std::set<std::uint32_t> used;
  for (std::size_t p = 0; p < mine.size(); ++p) {
    if (known.unread.has(p)) used.insert(giver[p]);
  }
  std::map<unsigned, PieceSet> peers;
  if (known.any)
    peers = dealing.replicate ? hear_of_peers(members, mine) : hear_of_hands(members, dealing, mine, known, giver);
  return {Plan({members.size(), members.rank(), dealing, mine, std::move(known.lacking), std::move(known.unread),
                std::move(giver), std::move(peers)}),
          static_cast<unsigned>(used.size())};
}

}  // namespace sabath
