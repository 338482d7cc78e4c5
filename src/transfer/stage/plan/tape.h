// An asset's content laid out as one row of pieces, the same on every node: what staging deals, reads, sends and
// counts. A piece is a chunk of a large file, or a run of small files of at most a chunk together; equal content stands
// in the row once. Pure; any thread may read.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "sabath/digest.h"

namespace sabath {

struct StagedFile {
  Digest digest;
  std::string path;  // of equal content the first, where that stands once
};

struct Piece {
  std::uint32_t first = 0, files = 1;  // in Tape::files()
  std::uint32_t chunk = 0;             // of a large file
  std::uint32_t bytes = 0;             // at most chunk_size_bytes
};

// The part of a piece that one thread reads: some of its files, or some of its chunk.
struct PiecePart {
  std::uint32_t first = 0, files = 1;   // in Tape::files()
  std::uint32_t offset = 0, bytes = 0;  // in the piece
};

class Tape {
 public:
  static constexpr std::uint32_t files_max = 4096;            // of one piece
  static constexpr std::uint32_t run_part_bytes = 1U << 20U;  // of a run of small files

  Tape() = default;
  // `groups[i]`: of files[i]; no piece has files of two groups. Empty: all are of one.
  explicit Tape(std::vector<StagedFile> files, std::span<const std::uint32_t> groups = {});

  [[nodiscard]] const std::vector<StagedFile>& files() const { return files_; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_chunk(const Piece& piece) const {  // of a file with several
    return files_[piece.first].digest.size_bytes > chunk_size_bytes;
  }
  // All of a piece, in parts of `part_bytes`, or of about `run_part_bytes` where it is small files; at least one.
  [[nodiscard]] std::vector<PiecePart> parts(const Piece& piece, std::uint32_t part_bytes) const;

 private:
  void add_file(std::uint32_t index, bool joins);
  std::vector<StagedFile> files_;
  std::vector<Piece> pieces_;
  std::uint64_t bytes_ = 0;
};

// Files that different nodes have made, and no store has all of, must not share a piece.
[[nodiscard]] Tape one_by_one(std::vector<StagedFile> files);
// All files of an asset, in the manifest's order.
[[nodiscard]] std::vector<StagedFile> paths_of(const Manifest& manifest);
// The distinct content of an asset, in the manifest's order.
[[nodiscard]] std::vector<StagedFile> files_of(const Manifest& manifest);
// The same in another order: `numbers` names each file once. Throws Error{invalid} if it does not.
[[nodiscard]] std::vector<StagedFile> in_order(std::vector<StagedFile> files, std::span<const std::uint32_t> numbers);

}  // namespace sabath
