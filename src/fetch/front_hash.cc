#include "fetch/front_hash.h"

#include <iterator>
#include <utility>

#include "sabath/error.h"

namespace sabath {

FrontHash::FrontHash(const Checksums& expected, std::uint64_t size_bytes, ChunkBuffers& buffers, Read read)
    : expected_(expected), size_bytes_(size_bytes), buffers_(buffers), read_(std::move(read)), sums_(expected) {
  start();
}

FrontHash::~FrontHash() = default;

void FrontHash::start() {
  places_.assign(chunk_count(size_bytes_), Place::missing);
  next_ = 0;
  if (!expected_.empty()) thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

void FrontHash::restart() {
  thread_ = {};  // asks it to stop, and waits
  kept_.clear();
  sums_ = ChecksumSet(expected_);
  failure_ = nullptr;
  start();
}

void FrontHash::present(std::uint64_t index) {
  {
    const std::lock_guard lock(mutex_);
    places_[index] = Place::present;
  }
  moved_.notify_all();
}

bool FrontHash::offer(std::uint64_t index, ChunkBuffers::Buffer bytes, std::stop_token stop) {
  if (expected_.empty()) return false;
  bool waits = false;
  {
    std::unique_lock lock(mutex_);
    // While it has work, it is the slowest of all, and to run ahead of it is of no use.
    const auto in_step = [&] { return index <= next_ || kept_.size() < kept_max || !ready() || failure_; };
    waits = !in_step();
    moved_.wait(lock, stop, in_step);
    if (index >= next_) kept_.emplace(index, std::move(bytes));
    if (kept_.size() > kept_max) kept_.erase(std::prev(kept_.end()));  // it waits for an earlier one
    places_[index] = Place::present;  // only now: else the thread may come to it and find it neither kept nor taken
  }
  moved_.notify_all();
  return waits;
}

void FrontHash::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (next_ < places_.size()) {
    if (!moved_.wait(lock, stop, [&] { return ready(); })) return;
    const std::uint64_t index = next_;
    const auto kept = kept_.extract(index);
    lock.unlock();
    try {
      hash(index, kept.empty() ? nullptr : kept.mapped().get());
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
      moved_.notify_all();
      return;
    }
    lock.lock();
    ++next_;
    moved_.notify_all();
  }
}

void FrontHash::hash(std::uint64_t index, const std::byte* bytes) {
  const std::uint64_t length = chunk_length(size_bytes_, index);
  if (bytes != nullptr) return sums_.update({bytes, length});
  const auto buffer = buffers_.take();
  std::uint64_t have = 0;
  while (have < length) {
    const std::size_t n = read_(index * chunk_size_bytes + have, {buffer.get() + have, length - have});
    if (n == 0) throw Error(FailureKind::storage, "a chunk that was written cannot be read back");
    have += n;
  }
  sums_.update({buffer.get(), length});
  const std::lock_guard lock(mutex_);
  read_back_ += length;
}

Checksums FrontHash::finish(std::string_view what, std::stop_token stop) {
  if (expected_.empty()) return {};
  {
    std::unique_lock lock(mutex_);
    if (!moved_.wait(lock, stop, [&] { return next_ == places_.size() || failure_; })) {
      throw Error(FailureKind::interrupted, "stopped");
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  return sums_.finish_and_compare(what);
}

std::uint64_t FrontHash::read_back() const {
  const std::lock_guard lock(mutex_);
  return read_back_;
}

}  // namespace sabath
