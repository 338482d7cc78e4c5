#include "stage/from_origin.h"

#include <algorithm>
#include <map>

#include "comm/agree.h"
#include "stage/knowledge.h"

namespace sabath {
namespace {

constexpr unsigned rounds_max = 4;  // each gives what some could not get to the others

}  // namespace

bool FromOrigin::agree(Comm& members, const Dealing& dealing, const PieceSet& mine) {
  Known known = tell_all(members, dealing, mine, {.able = shared_ != nullptr});
  lacking_ = std::move(known.unread);
  if (lacking_.count() == 0) return false;
  looks_ = !known.able.empty() && known.able.front() == members.rank();
  in_shared_ = PieceSet(lacking_.size());
  return true;
}

void FromOrigin::look(const Tape& tape) {
  std::uint32_t last = UINT32_MAX;  // the large file looked for last
  bool there = false;
  for (std::size_t p = 0; looks_ && p < lacking_.size(); ++p) {
    if (!lacking_.has(p)) continue;
    const Piece& piece = tape.pieces()[p];
    if (!tape.is_chunk(piece) || piece.first != last) {
      const auto files = std::span(tape.files()).subspan(piece.first, piece.files);
      there = std::ranges::all_of(files, [&](const StagedFile& file) { return shared_->has(file.digest); });
      last = piece.first;
    }
    if (there) in_shared_.add(p);
  }
}

bool FromOrigin::deal(Comm& members, const Dealing& dealing, const Tape& tape) {
  members.all_reduce(in_shared_.words(), Reduction::bit_or);
  for (std::size_t p = 0; p < lacking_.size(); ++p) {
    if (in_shared_.has(p)) lacking_.remove(p);
  }
  if (lacking_.count() == 0) return false;
  const auto able = choose_readers(able_members(members, fetch_ && !failure_), std::max(1U, nodes_max_));
  hopeless_ = sabath::agree(members, failure_);
  const bool goes_on = !able.empty() && rounds_++ < rounds_max;
  mine_ = PieceSet(lacking_.size());
  if (!goes_on) {
    if (!hopeless_) {
      hopeless_ = Failure{FailureKind::offline, "neither the shared store nor a node has all of it", "", std::nullopt};
    }
    return true;
  }
  hopeless_.reset();
  fetching_ = static_cast<unsigned>(able.size());
  std::vector<std::uint32_t> giver(lacking_.size(), Plan::nobody);
  assign_readers(giver, tape, lacking_, able, dealing);
  for (std::size_t p = 0; p < giver.size(); ++p) {
    if (giver[p] == members.rank()) mine_.add(p);
  }
  return true;
}

void FromOrigin::fetch(Store& node, const Tape& tape, ChunkLists& chunks, std::uint64_t& received_bytes,
                       const std::stop_token& stop) {
  if (hopeless_) throw Error(*hopeless_);
  std::map<std::uint32_t, WantedFile> files;  // by their place on the tape
  for (std::size_t p = 0; p < mine_.size(); ++p) {
    if (!mine_.has(p)) continue;
    const Piece& piece = tape.pieces()[p];
    for (std::uint32_t f = piece.first; f < piece.first + piece.files; ++f) {
      const StagedFile& file = tape.files()[f];
      const bool large = tape.is_chunk(piece);
      if (!large && node.present(file.digest)) continue;
      auto [entry, first] = files.try_emplace(f);
      if (first) entry->second = {file, *chunks.of(f), {}};
      if (!large) continue;
      entry->second.wanted.resize(entry->second.chunks.size());
      entry->second.wanted[piece.chunk] = true;
    }
  }
  std::vector<WantedFile> wanted;
  for (auto& [place, file] : files) wanted.push_back(std::move(file));
  if (!wanted.empty()) failure_ = fetch_(node, std::move(wanted), fetching_, received_bytes, stop);
}

}  // namespace sabath
