#include "stage/node/piece_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/wording.h"
#include "machine/file_stripes.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"

namespace sabath {

std::shared_ptr<const std::vector<Sha256>> ChunkLists::of(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
  auto& list = lists_[file];
  if (!list) {
    Entry entry{RelativePath::parse(tape_.files()[file].path), EntryType::file, tape_.files()[file].digest, 0, {}};
    list = std::make_shared<const std::vector<Sha256>>(manifest_.chunks(entry));
  }
  return list;
}

std::vector<StagedFile> in_order_of(PackMap& map, std::vector<StagedFile> files) {
  if (map.empty()) return files;
  std::vector<PackMap::Place> places;
  for (const std::uint32_t number : map.order) places.push_back(map.places.at(number));
  map.places = std::move(places);
  return in_order(std::move(files), map.order);
}

namespace {

[[noreturn]] void refuse_chunk(std::uint64_t size, const StagedFile& file, std::uint64_t chunk) {
  throw Error(FailureKind::content,
              fmt::format("{}: {} bytes at {} are not what the manifest says", printable(file.path), size,
                          chunk * chunk_size_bytes),
              fmt::format("`{}` finds what is wrong in the shared store, and `{} {}` mends it", verb_text("verify"),
                          verb_text("fetch"), option_text("force")));
}

}  // namespace

void check_chunk(std::span<const std::byte> bytes, const Sha256& expected, const StagedFile& file,
                 std::uint64_t chunk) {
  if (hash_chunk(bytes) != expected) refuse_chunk(bytes.size(), file, chunk);
}

std::uint64_t stripe_bytes(const Store& store, const Tape& tape, const std::stop_token& stop) {
  constexpr std::chrono::seconds deadline{2};  // it is a look at one file
  const auto large = std::ranges::find_if(tape.pieces(), [&](const Piece& piece) { return tape.is_chunk(piece); });
  if (large == tape.pieces().end()) return 0;
  const auto file = store.object_path(tape.files()[large->first].digest);
  return lustre_stripe_bytes(file, "lfs", deadline, stop).value_or(0);
}

std::vector<Digest> digests_of(const Piece& piece, const Tape& tape, std::span<const std::byte> bytes) {
  std::vector<std::span<const std::byte>> contents;
  contents.reserve(piece.files);
  for (std::uint32_t i = 0; i < piece.files; ++i) {
    contents.push_back(bytes.first(tape.files()[piece.first + i].digest.size_bytes));
    bytes = bytes.subspan(contents.back().size());
  }
  return hash_contents(contents);
}

void PieceReader::refuse_missing(const StagedFile& file) const {
  throw Error(FailureKind::offline,
              fmt::format("{} is not in the store {}", printable(file.path), printable(store_.directory().native())),
              fmt::format("`{}` brings it", verb_text("fetch")));
}

void PieceReader::read(const Piece& piece, const PiecePart& part, std::span<std::byte> room, unsigned thread) {
  if (tape_.is_chunk(piece)) return read_chunk(piece, part, room, open_.at(thread));
  std::vector<Digest> digests;
  digests.reserve(part.files);
  for (std::uint32_t i = 0; i < part.files; ++i) digests.push_back(tape_.files()[part.first + i].digest);
  const auto places =
      map_.empty() ? std::span<const PackMap::Place>{} : std::span(map_.places).subspan(part.first, part.files);
  if (const auto missing = read_contents(store_, packs_, digests, map_, places, room))
    refuse_missing(tape_.files()[part.first + *missing]);
}

void PieceReader::read_chunk(const Piece& piece, const PiecePart& part, std::span<std::byte> room, Open& last) {
  const StagedFile& staged = tape_.files()[piece.first];
  if (last.file != piece.first || !last.content) last = {piece.first, store_.open_content(staged.digest)};
  if (!last.content) refuse_missing(staged);
  if (last.content->read(piece.chunk * chunk_size_bytes + part.offset, room) != room.size()) {
    throw Error(FailureKind::content, fmt::format("{} is shorter than it was", printable(staged.path)),
                fmt::format("`{}` finds what is wrong in the store", verb_text("verify")));
  }
}

void check_piece(const Piece& piece, const Tape& tape, ChunkLists& chunks, std::span<const std::byte> bytes) {
  if (tape.is_chunk(piece)) {
    return check_chunk(bytes, chunks.of(piece.first)->at(piece.chunk), tape.files()[piece.first], piece.chunk);
  }
  const auto found = digests_of(piece, tape, bytes);
  for (std::uint32_t i = 0; i < piece.files; ++i) {
    const StagedFile& file = tape.files()[piece.first + i];
    if (found[i] != file.digest) refuse_chunk(file.digest.size_bytes, file, 0);
  }
}

}  // namespace sabath
