// A file whose chunk hashes are known: each chunk proves itself. A wrong one is thrown away, and its giver is not asked
// again. Chunks that other processes, or other objects of the store, have are not fetched; chunks that other processes
// have claimed come last.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "fetch/transfer/chunk_reuse.h"
#include "fetch/transfer/chunk_transfer.h"

namespace sabath {

class PinnedTransfer final : public ChunkTransfer {
 public:
  PinnedTransfer(FetchContext& context, ChunkBuffers& buffers, ChunkIndex& index, const FileJob& job);

 private:
  using Clock = std::chrono::steady_clock;

  void open() override;
  bool publish() override;
  void fail(const Failure& failure) override;
  TransferFacts facts() override;
  Task begin(TransferStep step, bool last) override;
  std::optional<Place> next_flow(bool last) override;
  bool may_ask(std::size_t mirror, bool choice) const override;
  bool give_run(Flow& flow, bool last) override;
  void came(const Flow& flow, std::uint64_t chunk, const Flight& flight) override;
  void died(std::size_t mirror, bool wrong) override;
  bool worthless(std::size_t mirror) const override { return wrong_.contains(mirror); }
  void ended(const Flow& flow, ByteRange left) override;
  bool right(std::uint64_t chunk, std::span<const std::byte> bytes) const override;
  bool store(Lane& lane, const Whole& whole, const std::stop_token& stop) override;

  void copy(const Lane& lane, const ChunkReuse::Copy& copy);
  // The mutex is held.
  [[nodiscard]] std::uint64_t plan();  // returns the bytes that are there
  void hear_judgements();
  [[nodiscard]] bool claim(Flow& flow);
  void take_news(std::chrono::milliseconds interval);
  void done(std::uint64_t chunk);

  const ByteRange slice_;  // what this rank of a job begins with
  const Clock::time_point begun_ = Clock::now();
  std::unique_ptr<SharedPartial> partial_;

  // Under the mutex:
  ChunkReuse reuse_;
  std::set<std::uint64_t> claimed_;              // chunks
  std::map<std::size_t, std::uint64_t> probes_;  // the chunk by which a mirror is to prove itself
  std::set<std::size_t> wrong_;                  // mirrors that gave what is wrong
  Clock::time_point looked_{};                   // for news of other processes
};

}  // namespace sabath
