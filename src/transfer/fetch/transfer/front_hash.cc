#include "fetch/transfer/front_hash.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/threads.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"

namespace sabath {

FrontHash::FrontHash(const Checksums& expected, std::uint64_t size_bytes, ChunkBuffers& buffers, Calls calls,
                     bool takes_leaves)
    : expected_(expected),
      size_bytes_(size_bytes),
      buffers_(buffers),
      calls_(std::move(calls)),
      sums_(expected, size_bytes),
      may_take_leaves_(takes_leaves),
      places_(chunk_count(size_bytes), Place::missing) {
  if (!expected_.empty()) start();
}

FrontHash::~FrontHash() = default;

void FrontHash::start() {
  hashes_ = true;
  takes_leaves_ = may_take_leaves_ && !expected_.sha256.empty();
  thread_ = start_thread([this](std::stop_token stop) { run(stop); });
}

void FrontHash::expect(const Checksums& expected) {
  const std::lock_guard lock(mutex_);
  if (hashes_ || expected.empty()) return;
  expected_ = expected;
  sums_ = ChecksumSet(expected_, size_bytes_);
  start();
}

void FrontHash::present(std::uint64_t index) {
  {
    const std::lock_guard lock(mutex_);
    places_[index] = Place::present;
  }
  moved_.notify_all();
}

FrontHash::Turn FrontHash::await_turn(std::uint64_t index, bool quick, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!hashes_) return {};
  const auto near = [&] { return index < next_ + kept_max; };
  // While it has work, it is the slowest of all, and what is far ahead of it would be read back.
  const auto in_step = [&] { return near() || !ready() || failure_; };
  const bool held_back = !in_step() && kept_.size() + 1 >= kept_max;  // and the one that it has in hand
  moved_.wait(lock, stop, in_step);
  // Only what is near: until it has its hash, a kill takes it.
  return {held_back, takes_leaves_ && quick && near()};
}

void FrontHash::offer(std::uint64_t index, ChunkBuffers::Buffer bytes, const Turn& turn) {
  {
    const std::lock_guard lock(mutex_);
    if (hashes_ && index >= next_) kept_.try_emplace(index, Kept{std::move(bytes), turn.unhashed});
    // The last waits for an earlier one. Of more than kept_max it is far ahead, so it has its hash, and is read back.
    if (kept_.size() > kept_max) kept_.erase(std::prev(kept_.end()));
    places_[index] = Place::present;  // only now: else the thread may come to it and find it neither kept nor taken
  }
  moved_.notify_all();
}

void FrontHash::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  try {
    while (next_ < places_.size()) {
      moved_.wait(lock, stop, [&] { return ready() || unhashed() != kept_.end(); });
      if (stop.stop_requested()) break;
      ready() ? hash_front(lock) : hash_early(lock);
      moved_.notify_all();
    }
    while (unhashed() != kept_.end()) hash_early(lock);  // it is stopped, and others may go on with them
  } catch (...) {
    if (!lock) lock.lock();
    failure_ = std::current_exception();
    moved_.notify_all();
  }
}

FrontHash::KeptChunks::iterator FrontHash::unhashed() {
  return std::ranges::find_if(kept_, [](const auto& kept) { return kept.second.unhashed; });
}

void FrontHash::hash_front(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t index = next_, length = chunk_length(size_bytes_, index);
  const auto node = kept_.extract(index);
  const bool unhashed = node && node.mapped().unhashed;
  lock.unlock();
  if (!node) {
    hash_from_disk(index);
  } else if (unhashed) {
    calls_.hashed(index, hash_chunk({node.mapped().bytes.get(), length}, sums_));
  } else {
    sums_.update({node.mapped().bytes.get(), length});
  }
  lock.lock();
  ++next_;
  if (!node) read_back_ += length;
}

// The front waits for an earlier chunk, and what a kill would take is made safe.
void FrontHash::hash_early(std::unique_lock<std::mutex>& lock) {
  const auto early = unhashed();  // stays meanwhile: only this thread takes it away
  const std::uint64_t index = early->first;
  const ChunkBuffers::Buffer bytes = early->second.bytes;
  lock.unlock();
  calls_.hashed(index, hash_chunk({bytes.get(), chunk_length(size_bytes_, index)}));
  lock.lock();
  early->second.unhashed = false;
}

void FrontHash::hash_from_disk(std::uint64_t index) {
  const std::uint64_t length = chunk_length(size_bytes_, index);
  const auto buffer = buffers_.take();
  std::uint64_t have = 0;
  while (have < length) {
    const std::size_t n = calls_.read(index * chunk_size_bytes + have, {buffer.get() + have, length - have});
    if (n == 0) throw Error(FailureKind::storage, "a chunk that was written cannot be read back");
    have += n;
  }
  sums_.update({buffer.get(), length});
}

Checksums FrontHash::finish(std::string_view what, std::stop_token stop, SaidBy by) {
  {
    std::unique_lock lock(mutex_);
    if (!hashes_) return {};
    if (!moved_.wait(lock, stop, [&] { return next_ == places_.size() || failure_; })) {
      throw Error(FailureKind::interrupted, "stopped");
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  return sums_.finish_and_compare(what, by);
}

std::uint64_t FrontHash::read_back() const {
  const std::lock_guard lock(mutex_);
  return read_back_;
}

}  // namespace sabath
