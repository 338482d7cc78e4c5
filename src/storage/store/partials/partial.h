// Content on its way into the store: any writer can resume it, after any end. docs/store.md, "Partials".
//
// One file of chunks, shared or a writer's own. Shared: the chunk digests are given; any number of writers fill one
// data file, and only bytes whose chunk hash matched are written to it. Own: the digests are learnt; this writer owns
// its data file, and [0, front) of it has no gap. Bytes of a chunk on its way stand in this writer's scratch file, so
// that kill -9 loses little. Thread-safe. Throws Error{storage} and Error{space}.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "manifest/file_tree.h"
#include "sabath/digest.h"
#include "sabath/fetcher.h"
#include "store/disk/store_values.h"
#include "store/partials/scratch.h"

namespace sabath {

class ChunkFile {
 public:
  virtual ~ChunkFile() = default;

  // By chunk: whether it is there. Own: the list may be shorter than the file.
  [[nodiscard]] virtual std::vector<bool> chunks_done() = 0;
  // Parts of chunk `index` that dead writers left in their scratch files, each once; unverified, and they may overlap.
  [[nodiscard]] virtual std::vector<ScratchBytes> adopt_scratch(std::uint64_t index) = 0;
  // The chunks for which adopt_scratch() has something, and about how many bytes: these need not be fetched.
  [[nodiscard]] virtual std::map<std::uint64_t, std::uint64_t> scratch_left() = 0;
  // Keeps a part of a chunk on its way, from `offset` within it on, in case of a kill: all bytes that a lane has
  // brought in a row, of which the last `fresh` are new. One slot for each lane.
  virtual void write_scratch(unsigned lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> part,
                             std::size_t fresh) = 0;
  // A whole chunk, journaled once written. Shared: the caller has compared its hash.
  virtual void write_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes,
                           const Sha256& hash) = 0;
  [[nodiscard]] virtual std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) = 0;  // of done chunks
  // All chunks are done: fsync, publish under the digest, remove the rest. Shared: the digest must match. Returns the
  // tree. A process that finds the content published by another has succeeded too.
  virtual FileTree publish() = 0;
  virtual void discard() = 0;  // wrong content: remove everything of it
};

// An open file that holds the bytes of a chunk at `offset`, and never changes; -1: there is none.
struct ChunkOrigin {
  int fd = -1;
  std::uint64_t offset = 0;
};

// The writers tell each other by journals which chunks are claimed and done. chunks_done() has the others' too.
class SharedPartial : public ChunkFile {
 public:
  // Claims chunks from `first` on, at most `count`, up to one that another has; reads the others' journals before and
  // after, so that one of several writers that want a chunk at once gets it. Returns how many are ours; 0: another was
  // faster.
  [[nodiscard]] virtual std::uint64_t claim_run(std::uint64_t first, std::uint64_t count) = 0;
  virtual void release(std::uint64_t index) = 0;  // the claim is given back, and others may have the chunk
  [[nodiscard]] virtual bool claimed_by_other(std::uint64_t index) = 0;  // and that claim still advances
  // write_chunk(), but the chunk shares blocks with its origin where the filesystem can.
  virtual void copy_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes, const Sha256& hash,
                          const ChunkOrigin& origin) = 0;
};

class OwnPartial : public ChunkFile {
 public:
  // Adopts the chunks of an earlier process, hashed again as they are read; calls `tee` with the bytes of the front in
  // order. Adopts nothing when `expected` differs from the version noted then.
  virtual void adopt_front(const SourceVersion& expected,
                           const std::function<void(std::span<const std::byte>)>& tee) = 0;
  [[nodiscard]] virtual SourceVersion version_noted() const = 0;  // by the earlier process; empty if none
  virtual void note_version(const SourceVersion& version, std::optional<std::uint64_t> size_bytes) = 0;
  virtual void claim_lead() = 0;  // tells the other writers of the same source that this one goes on
  [[nodiscard]] virtual std::uint64_t front() const = 0;
  // write_chunk() in two steps, for a caller that learns the hash a moment later: until note_hash() the bytes do not
  // count.
  virtual void write_unhashed(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes) = 0;
  virtual void note_hash(std::uint64_t index, std::uint64_t length, const Sha256& hash) = 0;
  virtual void restart() = 0;  // throws everything away: the source changed
};

}  // namespace sabath
