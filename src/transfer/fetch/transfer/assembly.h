// The chunks of one file on their way: which bytes are free, in a request, or there, and the buffers in which a chunk's
// bytes meet. The lane that brings the last byte of a chunk learns so.
// Part of a ChunkTransfer, which guards its own decisions by the same mutex. Throws what the partial throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "fetch/decide/schedule.h"
#include "fetch/transfer/chunk_buffers.h"
#include "fetch/transfer/flow.h"
#include "fetch/transfer/lane.h"
#include "store/partials/partial.h"

namespace sabath {

class Assembly {
 public:
  struct Calls {
    std::function<void(const Flow&, std::uint64_t chunk, const Flight&)> came;  // some bytes; the mutex is held
    std::function<void(Lane&, Flow&, std::uint64_t chunk, const Flight&)> whole;
  };
  struct Enough {};  // thrown by take(), through a fetcher: the rest belongs to another lane

  // `wanted`: by chunk; nullptr: all.
  Assembly(std::uint64_t size_bytes, const std::vector<bool>* wanted, ChunkBuffers& buffers, Calls calls);
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }
  [[nodiscard]] std::uint64_t length_of(std::uint64_t chunk) const { return chunk_length(size_, chunk); }
  [[nodiscard]] ByteRange range_of(std::uint64_t chunk) const {
    return {chunk * chunk_size_bytes, chunk * chunk_size_bytes + length_of(chunk)};
  }

  // --- what a request brings, in its lane; the mutex is not held
  void take(Lane& lane, Flow& flow, std::span<const std::byte> bytes);  // of the request's run
  // Of a source that has no ranges, at position `at` of the file: what is there already is skipped.
  void take_whole(Lane& lane, Flow& flow, std::uint64_t& at, std::span<const std::byte> bytes);
  // Takes what dead writers left of the chunk in which the run begins; the first lane there does so.
  void adopt_scratch(Lane& lane, Flow& flow);

  // --- decisions; the mutex is held
  // The finished chunks stand in `file`; nothing is free yet. `position`: where this process begins.
  void begin(ChunkFile& file, const Schedule::Limits& limits, std::uint64_t position);
  [[nodiscard]] Schedule& schedule() { return *schedule_; }
  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  [[nodiscard]] std::uint64_t chunks() const { return done_.size(); }
  [[nodiscard]] bool done(std::uint64_t chunk) const { return done_[chunk]; }
  [[nodiscard]] bool any_done() const { return missing_ < done_.size(); }  // where all are wanted
  [[nodiscard]] bool all_done() const;
  [[nodiscard]] std::optional<std::uint64_t> last_done() const;
  [[nodiscard]] bool wants(std::uint64_t chunk) const { return wanted_ == nullptr || (*wanted_)[chunk]; }
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> scratch_left() { return file_->scratch_left(); }
  [[nodiscard]] std::uint64_t missing() const { return missing_; }  // chunks that are wanted
  // The chunk came wrong from several sources: one brings the whole.
  [[nodiscard]] bool alone(std::uint64_t chunk) const { return alone_.contains(chunk); }
  [[nodiscard]] bool given_by(std::size_t mirror) const;   // a part of a chunk on its way
  [[nodiscard]] bool is_whole(std::uint64_t chunk) const;  // and a lane is hashing it
  void free(std::uint64_t chunk) { schedule_->add_free(range_of(chunk)); }
  bool arrived(std::uint64_t chunk);  // true: it was the last that is wanted
  void drop(std::uint64_t chunk);     // what came of it is thrown away
  // The chunk is wrong, of `several` sources. False: it was thrown away meanwhile.
  [[nodiscard]] bool refuse(std::uint64_t chunk, const Flight& flight, bool several);
  // Throws away the chunks on their way that no lane is at and that are such.
  void forget(const std::function<bool(std::uint64_t chunk, const Flight&)>& such);
  void forget_all() { flights_.clear(); }  // one answer brings the file from its start

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::shared_ptr<Flight> flight_of(std::uint64_t chunk, std::size_t giver);  // the mutex is held
  // True: the chunk is whole, and this lane has seen to it.
  bool put(Lane& lane, Flow& flow, std::uint64_t at, Flight& flight, std::span<const std::byte> bytes, bool adopted);
  void write_scratch(const Lane& lane, Flow& flow, std::uint64_t at, const std::byte* buffer, std::size_t fresh);

  const std::uint64_t size_;
  const std::vector<bool>* const wanted_;
  ChunkBuffers& buffers_;
  const Calls calls_;
  const Clock::time_point begun_ = Clock::now();
  ChunkFile* file_ = nullptr;

  std::mutex mutex_;  // of what follows
  std::unique_ptr<Schedule> schedule_;
  std::vector<bool> done_;  // by chunk
  std::uint64_t missing_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Flight>> flights_;
  std::set<std::uint64_t> alone_;
};

}  // namespace sabath
