// A file whose chunk hashes are learnt as it comes. How mirrors are believed:
// - provable (a published checksum): mirrors whose size, validators and samples agree are read together, and the whole
//   is hashed in order as it comes. If it is wrong, each is heard alone. A chunk from a mirror that is still compared
//   is held, and kept later. Those that name another size wait: where no recipe says the size, they may be right.
// - not provable: one source, one version; another takes over from the start.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "fetch/transfer/chunk_transfer.h"
#include "fetch/transfer/front_hash.h"
#include "fetch/transfer/kept.h"
#include "fetch/transfer/trust.h"
#include "store/partials/leader_watch.h"

namespace sabath {

class LearntTransfer final : public ChunkTransfer {
 public:
  // `begun`: the partial holds what this fetch has read, and that many bytes that an earlier one left. `watch`: of
  // others that may be fetching it; nullptr: it is this process's own.
  LearntTransfer(FetchContext& context, ChunkBuffers& buffers, const FileJob& job, std::uint64_t size_bytes,
                 std::optional<std::uint64_t> begun, LeaderWatch* watch);
  ~LearntTransfer() override;
  void leave_out(const MirrorSet::Heard& heard) { mirrors_.leave_out(heard); }  // before the first work()

 private:
  void open() override;
  bool publish() override;
  void fail(const Failure& failure) override;
  TransferFacts facts() override;
  Task begin(TransferStep step, bool last) override;
  std::optional<Place> next_flow(bool last) override;
  bool may_ask(std::size_t mirror, bool /*choice*/) const override { return trust_.may_give(mirror); }
  bool give_run(Flow& flow, bool last) override;
  Validators expected(std::size_t mirror) const override { return trust_.expected(mirror, job_.version); }
  void came(const Flow& flow, std::uint64_t chunk, const Flight& flight) override;
  bool believes(Whole& whole) override;
  void died(std::size_t mirror, bool wrong) override;
  bool worthless(std::size_t mirror) const override { return trust_.worthless(mirror); }
  void failed(const Flow& flow, FailureKind kind) override;
  void rangeless() override;
  void ended(const Flow& flow, ByteRange left) override;
  bool tries_again() override;
  void read(Lane& lane, Flow& flow) override;
  void on_begin(Flow& flow, const ContentInfo& info) override;
  bool right(std::uint64_t chunk, std::span<const std::byte> bytes) const override;
  bool store(Lane& lane, const Whole& whole, const std::stop_token& stop) override;
  void after_failure(Flow& flow, const Error& error) override;

  [[nodiscard]] bool leads();
  void adopt_earlier();
  void begin_anew();
  void watch_front();
  [[nodiscard]] std::string describe_outcome();
  void hear_each_alone(const Failure& failure);
  void blame_suspects();
  void compare_samples(Flow& flow);
  void show_front();  // to the thread that reads the archive as it arrives
  // The mutex is held.
  void plan();
  void want_restart();
  void after_change(std::size_t mirror);
  void note_version(std::size_t mirror);

  ChunkBuffers& buffers_;
  std::optional<std::uint64_t> earlier_;  // see `begun`
  LeaderWatch* const watch_;
  std::unique_ptr<OwnPartial> partial_;
  std::unique_ptr<FrontHash> front_hash_;

  // Under the mutex:
  Trust trust_;
  std::uint64_t reused_ = 0;  // adopted bytes: said at the end
  Kept kept_;                 // the same, as the display knows it
  bool restart_ = false;
  std::set<std::size_t> of_other_size_;  // mirrors: to be heard when this size turns out to be wrong
};

}  // namespace sabath
