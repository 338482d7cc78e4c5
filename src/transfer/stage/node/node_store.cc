#include "stage/node/node_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "sabath/error.h"
#include "stage/plan/stripe.h"
#include "store/partials/partial.h"

namespace sabath {
namespace {

constexpr std::size_t publish_at_once = 512;

}  // namespace

struct NodeStore::Large {
  std::mutex mutex;
  std::unique_ptr<SharedPartial> partial;
  std::vector<bool> lacks;  // by chunk. Another job may have brought some since the holdings were looked at
  std::uint64_t left = 0;   // of them
  std::atomic<bool> published{false};

  // A chunk is here now. True: it was the last that lacked.
  bool arrived(std::uint64_t chunk) {
    const std::lock_guard lock(mutex);
    if (!lacks.at(chunk)) return false;
    lacks[chunk] = false;
    return --left == 0;
  }
};

NodeStore::NodeStore(LocalDisks& disks, const Tape& tape, ChunkLists& chunks, unsigned threads)
    : disks_(disks),
      tape_(tape),
      chunks_(chunks),
      reader_(disks.main(), tape, threads),
      disk_(tape.files().size(), nowhere),
      finished_(disks.size()) {}
NodeStore::~NodeStore() = default;

// The partial of a large file; the first thread that asks opens it.
std::shared_ptr<NodeStore::Large> NodeStore::large(std::uint32_t file) {
  std::shared_ptr<Large> its;
  {
    const std::lock_guard lock(mutex_);
    auto& entry = large_[file];
    if (!entry) entry = std::make_shared<Large>();
    its = entry;
  }
  const std::lock_guard lock(its->mutex);
  if (!its->partial) {
    auto partial = disks_.store(disk_.at(file)).open_partial(tape_.files()[file].digest, *chunks_.of(file));
    its->lacks = partial->chunks_done();
    its->lacks.flip();
    its->left = static_cast<std::uint64_t>(std::ranges::count(its->lacks, true));
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
        all = disks_.main().present(tape_.files()[f].digest);
      }
      if (all) holdings_.add(p);
      continue;
    }
    if (piece.first != last) {
      last = piece.first;
      const Digest& digest = tape_.files()[last].digest;
      present = disks_.main().present(digest);
      done.clear();
      const auto begun = present ? std::nullopt : disks_.begun(digest);
      if (begun) {
        disk_[last] = *begun;
        done = large(last)->partial->chunks_done();
      }
    }
    if (present || (piece.chunk < done.size() && done[piece.chunk])) holdings_.add(p);
  }
  return holdings_;
}

// Each once, in the tape's order. A piece of small files is written as a whole.
std::vector<std::uint32_t> NodeStore::files_to_write(const std::function<bool(std::size_t piece)>& wanted) {
  std::vector<std::uint32_t> files;
  for (std::size_t p = 0; p < tape_.pieces().size(); ++p) {
    const Piece& piece = tape_.pieces()[p];
    if (holdings().has(p) || !wanted(p)) continue;
    if (tape_.is_chunk(piece) && !files.empty() && files.back() == piece.first) continue;
    for (std::uint32_t f = piece.first; f < piece.first + piece.files; ++f) files.push_back(f);
  }
  return files;
}

std::vector<Need> NodeStore::deal(const std::function<bool(std::size_t piece)>& wanted) {
  const auto files = files_to_write(wanted);
  const bool several = disks_.size() > 1;
  std::vector<Need> needs(disks_.size());
  const auto put = [&](std::uint32_t file, std::uint32_t disk, std::uint64_t bytes) {
    const auto& [digest, path] = tape_.files()[file];
    disk_[file] = disk;
    Need& need = needs[disk];
    need.bytes += bytes;
    ++need.inodes;
    if (digest.size_bytes > std::max(need.biggest_file, chunk_size_bytes)) {
      need.biggest_file = digest.size_bytes;
      need.biggest_name = path;
    }
    if (disk == 0) return;
    needs[0].bytes += LocalDisks::link_bytes;
    needs[0].inodes += LocalDisks::link_inodes;
  };
  std::vector<std::uint32_t> free;  // to go anywhere
  std::vector<std::uint64_t> sizes;
  for (const std::uint32_t file : files) {
    const Digest& digest = tape_.files()[file].digest;
    if (disk_[file] != nowhere) {  // what a partial holds is promised already
      const std::uint64_t held = disks_.store(disk_[file]).held(digest);
      put(file, disk_[file], held < digest.size_bytes ? digest.size_bytes - held : 0);
    } else if (const auto disk = several ? disks_.standing(digest) : std::nullopt) {
      put(file, *disk, digest.size_bytes);
    } else {
      free.push_back(file);
      sizes.push_back(digest.size_bytes);
    }
  }
  const auto dealt = stripe::deal(sizes, disks_.rooms(needs, free.size()));
  for (std::size_t i = 0; i < free.size(); ++i) put(free[i], dealt[i], sizes[i]);
  return needs;
}

void NodeStore::read(std::size_t index, const PiecePart& part, std::span<std::byte> room, unsigned thread) {
  const Piece& piece = tape_.pieces()[index];
  std::shared_ptr<Large> its;
  if (tape_.is_chunk(piece)) {
    const std::lock_guard lock(mutex_);
    if (const auto known = large_.find(piece.first); known != large_.end()) its = known->second;
  }
  if (!its || its->published) return reader_.read(piece, part, room, thread);
  if (its->partial->read(piece.chunk * chunk_size_bytes + part.offset, room) != room.size()) {
    const auto& file = tape_.files()[piece.first];
    throw Error(FailureKind::storage, fmt::format("what was here of {} is gone", printable(file.path)), "stage again");
  }
}

void NodeStore::write(std::size_t index, std::span<const std::byte> bytes, bool verified, unsigned thread) {
  const Piece& piece = tape_.pieces()[index];
  tape_.is_chunk(piece) ? write_chunk(piece, bytes, verified, thread) : write_files(piece, bytes, verified);
}

void NodeStore::write_chunk(const Piece& piece, std::span<const std::byte> bytes, bool verified, unsigned thread) {
  const Sha256 hash = chunks_.of(piece.first)->at(piece.chunk);
  if (!verified) check_chunk(bytes, hash, tape_.files()[piece.first], piece.chunk);
  const auto its = large(piece.first);
  its->partial->write_chunk(thread, piece.chunk, bytes, hash);
  if (its->arrived(piece.chunk)) publish(piece.first, *its);
}

void NodeStore::publish(std::uint32_t file, Large& its) {
  static_cast<void>(its.partial->publish());
  disks_.link(tape_.files()[file].digest);  // reads go by the first disk's store
  its.published = true;
}

void NodeStore::write_files(const Piece& piece, std::span<const std::byte> bytes, bool verified) {
  const auto found = verified ? std::vector<Digest>() : digests_of(piece, tape_, bytes);
  std::vector<Group> finished(disks_.size());
  for (std::uint32_t f = piece.first; f < piece.first + piece.files; ++f) {
    const auto& [digest, path] = tape_.files()[f];
    if (!verified && found[f - piece.first] != digest) {
      throw Error(FailureKind::content, fmt::format("{} did not arrive as it was read", printable(path)),
                  "stage again; if it stays so, a node's memory or network changes bytes");
    }
    const auto its = bytes.first(digest.size_bytes);
    bytes = bytes.subspan(its.size());
    auto writer = disks_.write_object(disk_.at(f), path);
    writer->write_hashed(its, {digest, its.empty() ? std::vector<Sha256>() : std::vector{digest.hash}});
    finished[disk_[f]].push_back(std::move(writer));
  }
  publish_later(std::move(finished));
}

void NodeStore::publish_later(std::vector<Group> finished) {
  for (std::size_t disk = 0; disk < finished.size(); ++disk) {
    Group group;
    {
      const std::lock_guard lock(mutex_);
      for (auto& writer : finished[disk]) finished_[disk].push_back(std::move(writer));
      if (finished_[disk].size() < publish_at_once) continue;
      group.swap(finished_[disk]);
    }
    disks_.store(disk).publish(std::move(group));
  }
}

void NodeStore::finish() {
  std::vector<Group> groups(disks_.size());
  {
    const std::lock_guard lock(mutex_);
    groups.swap(finished_);
  }
  for (std::size_t disk = 0; disk < groups.size(); ++disk) {
    if (!groups[disk].empty()) disks_.store(disk).publish(std::move(groups[disk]));
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [file, its] : large_) {
    if (its->partial && its->left == 0 && !its->published) publish(file, *its);  // others brought it all
  }
  large_.clear();
}

}  // namespace sabath
