#include "stage/node_store.h"

#include <fmt/format.h>

#include <atomic>

#include "sabath/error.h"
#include "store/partial.h"

namespace sabath {
namespace {

constexpr std::size_t publish_at_once = 512;

}  // namespace

struct NodeStore::Large {
  std::mutex opening;
  std::unique_ptr<Partial> partial;
  std::atomic<std::uint64_t> left{0};  // chunks that are not here
  std::atomic<bool> published{false};
  void publish() {
    static_cast<void>(partial->publish());
    published = true;
  }
};

NodeStore::NodeStore(Store& store, const Tape& tape, ChunkLists& chunks, unsigned threads)
    : store_(store), tape_(tape), chunks_(chunks), reader_(store, tape, chunks, threads) {}
NodeStore::~NodeStore() = default;

// The partial of a large file, opened by whoever comes first.
std::shared_ptr<NodeStore::Large> NodeStore::large(std::uint32_t file) {
  std::shared_ptr<Large> its;
  {
    const std::lock_guard lock(mutex_);
    auto& entry = large_[file];
    if (!entry) entry = std::make_shared<Large>();
    its = entry;
  }
  const std::lock_guard lock(its->opening);
  if (!its->partial) {
    auto partial = store_.open_partial(tape_.files()[file].digest, *chunks_.of(file));
    std::uint64_t left = 0;
    for (const bool done : partial->chunks_done()) left += done ? 0 : 1;
    its->left = left;
    its->partial = std::move(partial);
  }
  return its;
}

const PieceSet& NodeStore::holdings() {
  if (holdings_.size() == tape_.pieces().size()) return holdings_;
  holdings_ = PieceSet(tape_.pieces().size());
  std::uint32_t last = UINT32_MAX;  // the large file looked at last
  bool present = false;
  std::vector<bool> done;
  for (std::size_t p = 0; p < tape_.pieces().size(); ++p) {
    const Piece& piece = tape_.pieces()[p];
    if (!tape_.is_chunk(piece)) {
      bool all = true;
      for (std::uint32_t f = piece.first; all && f < piece.first + piece.files; ++f) {
        all = store_.present(tape_.files()[f].digest);
      }
      if (all) holdings_.add(p);
      continue;
    }
    if (piece.first != last) {
      last = piece.first;
      const Digest& digest = tape_.files()[last].digest;
      present = store_.present(digest);
      done.clear();
      if (!present && store_.held(digest) > 0) done = large(last)->partial->chunks_done();
    }
    if (present || (piece.chunk < done.size() && done[piece.chunk])) holdings_.add(p);
  }
  return holdings_;
}

void NodeStore::read(std::size_t index, std::span<std::byte> room, unsigned thread) {
  const Piece& piece = tape_.pieces()[index];
  std::shared_ptr<Large> its;
  if (tape_.is_chunk(piece)) {
    const std::lock_guard lock(mutex_);
    if (const auto known = large_.find(piece.first); known != large_.end()) its = known->second;
  }
  if (!its || its->published) return reader_.read(piece, room, thread);
  const auto& file = tape_.files()[piece.first];
  if (its->partial->read(piece.chunk * chunk_size_bytes, room) != room.size()) {
    throw Error(FailureKind::storage, fmt::format("what was here of {} is gone", printable(file.path)), "stage again");
  }
  check_chunk(room, chunks_.of(piece.first)->at(piece.chunk), file, piece.chunk);
}

void NodeStore::write(std::size_t index, std::span<const std::byte> bytes, bool verified, unsigned thread) {
  const Piece& piece = tape_.pieces()[index];
  tape_.is_chunk(piece) ? write_chunk(piece, bytes, verified, thread) : write_files(piece, bytes);
}

void NodeStore::write_chunk(const Piece& piece, std::span<const std::byte> bytes, bool verified, unsigned thread) {
  const Sha256 hash = chunks_.of(piece.first)->at(piece.chunk);
  if (!verified) check_chunk(bytes, hash, tape_.files()[piece.first], piece.chunk);
  const auto its = large(piece.first);
  its->partial->write_chunk(thread, piece.chunk, bytes, hash);
  if (--its->left == 0) its->publish();
}

void NodeStore::write_files(const Piece& piece, std::span<const std::byte> bytes) {
  std::vector<std::unique_ptr<ObjectWriter>> finished;
  for (std::uint32_t f = piece.first; f < piece.first + piece.files; ++f) {
    const StagedFile& file = tape_.files()[f];
    const auto its = bytes.first(file.digest.size_bytes);
    bytes = bytes.subspan(its.size());
    auto writer = store_.write_object();
    writer->write(its);
    if (writer->finish().digest != file.digest) {
      throw Error(FailureKind::content, fmt::format("{} did not arrive as it was read", printable(file.path)),
                  "stage again; if it stays so, a node's memory or network changes bytes");
    }
    finished.push_back(std::move(writer));
  }
  publish_later(std::move(finished));
}

void NodeStore::publish_later(std::vector<std::unique_ptr<ObjectWriter>> finished) {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  {
    const std::lock_guard lock(mutex_);
    for (auto& writer : finished) finished_.push_back(std::move(writer));
    if (finished_.size() < publish_at_once) return;
    group.swap(finished_);
  }
  store_.publish(std::move(group));
}

void NodeStore::finish() {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  {
    const std::lock_guard lock(mutex_);
    group.swap(finished_);
  }
  if (!group.empty()) store_.publish(std::move(group));
  const std::lock_guard lock(mutex_);
  for (const auto& [file, its] : large_) {
    if (its->partial && its->left == 0 && !its->published) its->publish();  // an earlier staging broke off just there
  }
  large_.clear();
}

}  // namespace sabath
