#include "store/pack_stream.h"

#include <mutex>
#include <unordered_set>
#include <utility>

#include "store/pack_writer.h"
#include "store/state.h"

namespace sabath {

struct PackStream::Open {
  std::unique_ptr<PackWriter> writer;
  std::unordered_set<Digest> has;
};

struct PackStream::Shared {
  explicit Shared(Store& in) : store(in) {}
  Store& store;
  PackTrial trial;
  std::mutex mutex;  // of what follows
  std::unique_ptr<Open> open;
  std::vector<std::unique_ptr<Open>> full;
};

PackStream::PackStream(Store& store) : shared_(std::make_unique<Shared>(store)) {}
PackStream::~PackStream() = default;
PackStream::PackStream(PackStream&&) noexcept = default;
PackStream& PackStream::operator=(PackStream&&) noexcept = default;

bool PackStream::add(const Digest& digest, std::span<const std::byte> content) {
  Shared& shared = *shared_;
  Store::State& store = shared.store.state();
  // That it is an object as well is not asked, for that would be a question to the filesystem for each file.
  if (store.packs.has_seen(digest)) return false;
  const PackedContent packed = shared.trial.pack(digest, content);  // compressed by the threads side by side
  // Written under the lock: beside each other, threads would wait at the file's own, and spin (1.4 s in place of 1.3 s
  // for 10,000 files of 64 KiB).
  const std::lock_guard lock(shared.mutex);
  if (!shared.open) {
    shared.open = std::make_unique<Open>();
    shared.open->writer = store.packs.begin();
  }
  if (shared.open->has.contains(digest)) return false;
  PackWriter& writer = *shared.open->writer;
  writer.add(packed.member, packed.stored);
  shared.open->has.insert(digest);
  store.landing.add(content.size(), 1);
  if (writer.bytes() < pack_bytes_aim && writer.members() < pack_members_aim) return false;
  shared.full.push_back(std::move(shared.open));
  return true;
}

void PackStream::publish_full() {
  std::vector<std::unique_ptr<Open>> full;
  {
    const std::lock_guard lock(shared_->mutex);
    full = std::exchange(shared_->full, {});
  }
  publish(std::move(full));
}

void PackStream::publish_all() {
  std::vector<std::unique_ptr<Open>> all;
  {
    const std::lock_guard lock(shared_->mutex);
    all = std::exchange(shared_->full, {});
    if (shared_->open) all.push_back(std::move(shared_->open));
  }
  publish(std::move(all));
}

void PackStream::seal_full() {
  const std::lock_guard lock(shared_->mutex);
  for (const auto& pack : shared_->full) {
    pack->writer->finish();
    pack->has = {};
  }
}

void PackStream::publish(std::vector<std::unique_ptr<Open>> packs) {
  if (packs.empty()) return;
  Store::State& store = shared_->store.state();
  for (const auto& pack : packs) store.packs.publish(*pack->writer);
  store.evidence.flush();
  store.arrivals.flush();
}

}  // namespace sabath
