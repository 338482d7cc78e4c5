// A node's own side of staging: which pieces its stores have already, and how pieces become objects of them. Each piece
// is checked before it is kept. A broken-off staging leaves the chunks of large files for the next one.
// Many threads, each with a number of its own below `threads`. Throws Error{content}, Error{space}, Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "machine/limits.h"
#include "stage/node/local_disks.h"
#include "stage/node/piece_reader.h"
#include "stage/plan/piece_set.h"
#include "stage/plan/tape.h"
#include "store/objects/object_writer.h"

namespace sabath {

class NodeStore {
 public:
  NodeStore(LocalDisks& disks, const Tape& tape, ChunkLists& chunks, unsigned threads);
  ~NodeStore();

  // The pieces that are here, verified or known to be; looked up once.
  [[nodiscard]] const PieceSet& holdings();
  // Gives each file that is lacked, of the wanted pieces, a disk; what each disk will need. Once, before write().
  [[nodiscard]] std::vector<Need> deal(const std::function<bool(std::size_t piece)>& wanted);
  // Of one of the holdings; not checked.
  void read(std::size_t piece, const PiecePart& part, std::span<std::byte> room, unsigned thread);
  // Keeps a piece that was not here. `verified`: the caller has checked these very bytes.
  void write(std::size_t piece, std::span<const std::byte> bytes, bool verified, unsigned thread);
  void finish();  // publishes what waits; afterwards every whole file is an object

 private:
  struct Large;  // a file of several chunks on its way
  using Group = std::vector<std::unique_ptr<ObjectWriter>>;
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  [[nodiscard]] std::shared_ptr<Large> large(std::uint32_t file);
  [[nodiscard]] std::vector<std::uint32_t> files_to_write(const std::function<bool(std::size_t piece)>& wanted);
  void publish(std::uint32_t file, Large& its);
  void write_chunk(const Piece& piece, std::span<const std::byte> bytes, bool verified, unsigned thread);
  void write_files(const Piece& piece, std::span<const std::byte> bytes, bool verified);
  void publish_later(std::vector<Group> finished);  // by disk

  LocalDisks& disks_;
  const Tape& tape_;
  ChunkLists& chunks_;
  PieceReader reader_;
  PieceSet holdings_;
  std::vector<std::uint32_t> disk_;  // of each file that is written or was begun
  std::mutex mutex_;                 // of what follows
  std::map<std::uint32_t, std::shared_ptr<Large>> large_;
  std::vector<Group> finished_;  // by disk
};

}  // namespace sabath
