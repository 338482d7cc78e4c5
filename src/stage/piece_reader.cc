#include "stage/piece_reader.h"

#include <fcntl.h>
#include <fmt/format.h>

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

void check_chunk(std::span<const std::byte> bytes, const Sha256& expected, const StagedFile& file,
                 std::uint64_t chunk) {
  if (hash_chunk(bytes) == expected) return;
  throw Error(FailureKind::content,
              fmt::format("{}: {} bytes at {} are not what the manifest says", printable(file.path), bytes.size(),
                          chunk * chunk_size_bytes),
              "`sabath verify` finds what is wrong in the shared store, and `sabath fetch --force` mends it");
}

Fd PieceReader::open_object(std::uint32_t file) const {
  const StagedFile& staged = tape_.files()[file];
  auto fd = try_open_file(store_.object_path(staged.digest), O_RDONLY);
  if (!fd) {
    throw Error(
        FailureKind::offline,
        fmt::format("{} is not in the store {}", printable(staged.path), printable(store_.directory().native())),
        "`sabath fetch` brings it");
  }
  return std::move(*fd);
}

void PieceReader::read(const Piece& piece, std::span<std::byte> room, unsigned thread) {
  if (tape_.is_chunk(piece)) return read_chunk(piece, room, open_.at(thread));
  for (std::uint32_t file = piece.first; file < piece.first + piece.files; ++file) {
    const StagedFile& staged = tape_.files()[file];
    const auto bytes = room.first(staged.digest.size_bytes);
    room = room.subspan(bytes.size());
    if (bytes.empty()) continue;
    const Fd fd = open_object(file);
    if (read_at(fd.get(), bytes, 0, staged.path) != bytes.size()) {
      throw Error(FailureKind::content, fmt::format("{} is shorter than it was", printable(staged.path)),
                  "`sabath verify` finds what is wrong in the store");
    }
    check_chunk(bytes, staged.digest.hash, staged, 0);
  }
}

void PieceReader::read_chunk(const Piece& piece, std::span<std::byte> room, Open& last) {
  const StagedFile& staged = tape_.files()[piece.first];
  if (last.file != piece.first) last = {piece.first, open_object(piece.first)};
  if (read_at(last.fd.get(), room, piece.chunk * chunk_size_bytes, staged.path) != room.size()) {
    throw Error(FailureKind::content, fmt::format("{} is shorter than it was", printable(staged.path)),
                "`sabath verify` finds what is wrong in the store");
  }
  check_chunk(room, chunks_.of(piece.first)->at(piece.chunk), staged, piece.chunk);
}

}  // namespace sabath
