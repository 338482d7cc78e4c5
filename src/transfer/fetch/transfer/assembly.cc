#include "fetch/transfer/assembly.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "sabath/error.h"

namespace sabath {

Assembly::Assembly(std::uint64_t size_bytes, const std::vector<bool>* wanted, ChunkBuffers& buffers, Calls calls)
    : size_(size_bytes), wanted_(wanted), buffers_(buffers), calls_(std::move(calls)) {}

// --- what a request brings -----------------------------------------------------------------------------------------

void Assembly::take(Lane& lane, Flow& flow, std::span<const std::byte> bytes) {
  const double begin = now();
  double end = begin;
  for (;;) {
    std::uint64_t at = 0;
    std::span<const std::byte> part;
    std::shared_ptr<Flight> flight;
    {
      const std::lock_guard lock(mutex_);
      if (flow.run->left() == 0 && flow.run->position < flow.request_end) throw Enough{};
      if (bytes.empty()) return schedule_->resume(flow.run, end - begin, end);
      flow.run->busy = true;
      if (flow.run->left() == 0) {
        throw Error(FailureKind::content, fmt::format("{} sends more than was asked", flow.pick.url->display()));
      }
      at = flow.run->position;
      const std::uint64_t chunk = at / chunk_size_bytes;
      part = bytes.first(schedule_->advance(flow.run, std::min(bytes.size(), range_of(chunk).end - at), end));
      bytes = bytes.subspan(part.size());
      if (done_[chunk]) continue;
      flight = flight_of(chunk, flow.pick.index);
    }
    if (put(lane, flow, at, *flight, part, false)) end = now();
  }
}

void Assembly::take_whole(Lane& lane, Flow& flow, std::uint64_t& at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (at == size_)
      throw Error(FailureKind::content,
                  fmt::format("{} is longer than the {} bytes that were expected", flow.pick.url->display(), size_));
    const std::uint64_t chunk = at / chunk_size_bytes;
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), range_of(chunk).end - at));
    std::shared_ptr<Flight> flight;
    {
      const std::lock_guard lock(mutex_);
      if (!done_[chunk]) flight = flight_of(chunk, flow.pick.index);
    }
    if (flight) (void)put(lane, flow, at, *flight, part, false);
    at += part.size();
    bytes = bytes.subspan(part.size());
  }
}

void Assembly::adopt_scratch(Lane& lane, Flow& flow) {
  std::uint64_t chunk = 0;
  {
    const std::lock_guard lock(mutex_);
    chunk = flow.run->position / chunk_size_bytes;
    if (flow.run->left() == 0 || flights_.contains(chunk) || alone(chunk)) return;
  }
  const std::uint64_t begin = chunk * chunk_size_bytes;
  for (const auto& [offset, bytes] : file_->adopt_scratch(chunk)) {
    std::vector<ByteRange> passed;
    std::shared_ptr<Flight> flight;
    {
      const std::lock_guard lock(mutex_);
      if (done_[chunk]) return;
      passed = schedule_->pass(flow.run, {begin + offset, begin + offset + bytes.size()});
      if (!passed.empty()) flight = flight_of(chunk, flow.pick.index);
    }
    for (const ByteRange& part : passed) {
      const auto adopted = std::span(bytes).subspan(part.begin - begin - offset, part.size());
      (void)put(lane, flow, part.begin, *flight, adopted, true);
    }
  }
}

bool Assembly::put(Lane& lane, Flow& flow, std::uint64_t at, Flight& flight, std::span<const std::byte> bytes,
                   bool adopted) {
  const std::uint64_t chunk = at / chunk_size_bytes, offset = at % chunk_size_bytes;
  std::memcpy(flight.bytes.get() + offset, bytes.data(), bytes.size());
  if (!adopted) write_scratch(lane, flow, at, flight.bytes.get(), bytes.size());
  if (offset == 0 || at == flow.start_end) flow.start_end = at + bytes.size();
  {
    const std::lock_guard lock(mutex_);
    flow.received += bytes.size();
    flight.covered += bytes.size();
    if (adopted) flight.adopted += bytes.size();
    if (!adopted) calls_.came(flow, chunk, flight);
    if (flight.covered != length_of(chunk)) return false;
  }
  calls_.whole(lane, flow, chunk, flight);
  return true;
}

// `fresh` bytes have come to `buffer`, the chunk's, at position `at` of the file.
void Assembly::write_scratch(const Lane& lane, Flow& flow, std::uint64_t at, const std::byte* buffer,
                             std::size_t fresh) {
  const std::uint64_t chunk = at / chunk_size_bytes, begin = chunk * chunk_size_bytes;
  const bool goes_on = at == flow.part_end && at != begin && buffer == flow.part_of;
  if (!goes_on) flow.part_begin = at;
  flow.part_end = at + fresh;
  flow.part_of = buffer;
  const std::span part(buffer + (flow.part_begin - begin), flow.part_end - flow.part_begin);
  file_->write_scratch(lane.id, chunk, flow.part_begin - begin, part, fresh);
}

// --- decisions; the mutex is held ----------------------------------------------------------------------------------

void Assembly::begin(ChunkFile& file, const Schedule::Limits& limits, std::uint64_t position) {
  file_ = &file;
  schedule_ = std::make_unique<Schedule>(size_, limits);
  schedule_->start_at(position);
  done_ = file.chunks_done();
  done_.resize(chunk_count(size_));
  flights_.clear();
  alone_.clear();
  missing_ = 0;
  for (std::uint64_t i = 0; i < done_.size(); ++i) missing_ += !done_[i] && wants(i) ? 1 : 0;
}

bool Assembly::all_done() const { return std::ranges::find(done_, false) == done_.end(); }

std::optional<std::uint64_t> Assembly::last_done() const {
  const auto last = std::find(done_.rbegin(), done_.rend(), true);
  if (last == done_.rend()) return std::nullopt;
  return static_cast<std::uint64_t>(done_.rend() - last) - 1;
}

bool Assembly::given_by(std::size_t mirror) const {
  return std::ranges::any_of(flights_, [&](const auto& flight) { return flight.second->givers.contains(mirror); });
}

bool Assembly::is_whole(std::uint64_t chunk) const {
  const auto flight = flights_.find(chunk);
  return flight != flights_.end() && flight->second->covered == length_of(chunk);
}

std::shared_ptr<Flight> Assembly::flight_of(std::uint64_t chunk, std::size_t giver) {
  auto found = flights_.find(chunk);  // what is made first cannot stand there half made, where memory ends
  if (found == flights_.end())
    found = flights_.emplace(chunk, std::make_shared<Flight>(Flight{buffers_.take(), 0, 0, now(), {}})).first;
  found->second->givers.insert(giver);
  return found->second;
}

bool Assembly::arrived(std::uint64_t chunk) {
  alone_.erase(chunk);
  flights_.erase(chunk);
  schedule_->remove_free(range_of(chunk));  // in case it was given up meanwhile
  done_[chunk] = true;
  return wants(chunk) && --missing_ == 0;
}

void Assembly::drop(std::uint64_t chunk) {
  if (flights_.erase(chunk) > 0) free(chunk);
}

bool Assembly::refuse(std::uint64_t chunk, const Flight& flight, bool several) {
  if (const auto at = flights_.find(chunk); at == flights_.end() || at->second.get() != &flight) return false;
  drop(chunk);
  if (several) alone_.insert(chunk);
  return true;
}

void Assembly::forget(const std::function<bool(std::uint64_t chunk, const Flight&)>& such) {
  std::erase_if(flights_, [&](const auto& entry) {
    const auto& [chunk, flight] = entry;
    if (is_whole(chunk) || schedule_->in_run(range_of(chunk)) || !such(chunk, *flight)) return false;
    free(chunk);
    return true;
  });
}

}  // namespace sabath
