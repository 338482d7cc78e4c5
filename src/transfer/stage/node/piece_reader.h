// Reads a tape's pieces from a store, part by part, for check_piece(): bytes are checked each time they are read, even
// if they were right once. Many threads, each with a number of its own. Throws Error{offline} naming the file if the
// store lacks it, Error{content} if it is shorter than it was, Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "manifest/manifest.h"
#include "stage/plan/tape.h"
#include "store/content.h"
#include "store/pack_read.h"
#include "store/store.h"

namespace sabath {

// The chunk digests of a tape's large files, read from the manifest when first asked for. Thread-safe.
class ChunkLists {
 public:
  ChunkLists(const Manifest& manifest, const Tape& tape) : manifest_(manifest), tape_(tape) {}
  [[nodiscard]] std::shared_ptr<const std::vector<Sha256>> of(std::uint32_t file);

 private:
  const Manifest& manifest_;
  const Tape& tape_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<const std::vector<Sha256>>> lists_;
};

// Packed ones first, as they stand there: so pieces are read in long rows. The places of `map` follow them.
[[nodiscard]] std::vector<StagedFile> in_order_of(PackMap& map, std::vector<StagedFile> files);

class PieceReader {
 public:
  // `map`: where packed content stands, in the tape's order; or empty. It outlives the reader.
  PieceReader(Store& store, const Tape& tape, unsigned threads, const PackMap& map = nothing)
      : store_(store), tape_(tape), map_(map), open_(threads) {}
  // room.size() is the part's bytes, which are not checked here.
  void read(const Piece& piece, const PiecePart& part, std::span<std::byte> room, unsigned thread);

 private:
  static inline const PackMap nothing{};
  struct Open {
    std::uint32_t file = UINT32_MAX;
    std::optional<Content> content;
  };
  [[noreturn]] void refuse_missing(const StagedFile& file) const;
  void read_chunk(const Piece& piece, const PiecePart& part, std::span<std::byte> room, Open& last);

  Store& store_;
  const Tape& tape_;
  const PackMap& map_;
  std::vector<Open> open_;  // the last large file of each thread
  OpenPacks packs_;
};

// How many bytes of a store's large files lie together on one server: by Lustre's program, about one file of the tape,
// as those of a store are made alike. 0: not known. Throws Error{interrupted}.
[[nodiscard]] std::uint64_t stripe_bytes(const Store& store, const Tape& tape, const std::stop_token& stop);

// Of the small files of a piece, from its bytes.
[[nodiscard]] std::vector<Digest> digests_of(const Piece& piece, const Tape& tape, std::span<const std::byte> bytes);

// Throws Error{content} unless a whole piece, as a store gave it, is what the manifest says.
void check_piece(const Piece& piece, const Tape& tape, ChunkLists& chunks, std::span<const std::byte> bytes);

// Throws Error{content} unless `bytes` hash to `expected`; `file` is for the message.
void check_chunk(std::span<const std::byte> bytes, const Sha256& expected, const StagedFile& file, std::uint64_t chunk);

}  // namespace sabath
