// One file of several chunks: any lane reads any of its bytes from any mirror that may be believed. Thread-safe.
//
// This class makes the requests: which mirror is asked, for which bytes, and how its answer or failure is taken. Bytes
// meet in an Assembly. Two kinds decide what is believed, and where it goes: a PinnedTransfer knows the hash of each
// chunk, a LearntTransfer learns them. The lanes of a Swarm run both.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>

#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/guarded_sink.h"
#include "fetch/hosts/mirrors.h"
#include "fetch/transfer/assembly.h"
#include "fetch/transfer/flow.h"
#include "fetch/transfer/lane.h"
#include "fetch/transfer/transfer_step.h"
#include "fetch/transfer/unanswered.h"

namespace sabath {

class ChunkTransfer {
 public:
  virtual ~ChunkTransfer() = default;
  // Does one thing that is to be done; false: nothing is, just now. `last`: nothing else is left to begin, so that
  // small pieces, and splitting late requests, are worth it. Throws what is fatal.
  bool work(Lane& lane, bool last);
  [[nodiscard]] bool over() const { return phase_ == TransferPhase::over; }
  [[nodiscard]] FileOutcome& outcome() { return outcome_; }  // once over()
  [[nodiscard]] bool gave_way() const { return gave_way_; }  // once over(): another process leads. Nothing is held

 protected:
  using Place = std::list<Flow>::iterator;
  using Task = std::function<void(Lane&)>;  // what was decided under the mutex, done without it
  // `provable`: wrong bytes are found, by the chunk or at the end.
  ChunkTransfer(FetchContext& context, ChunkBuffers& buffers, const FileJob& job, std::uint64_t size_bytes,
                const std::vector<bool>* wanted, bool provable);

  // --- phases; one lane
  virtual void open() = 0;     // the transfer is open after it, or over
  virtual bool publish() = 0;  // all that is wanted is there; false: it begins anew
  virtual void fail(const Failure& failure);
  // --- decisions; the mutex is held
  [[nodiscard]] virtual TransferFacts facts();
  [[nodiscard]] virtual Task begin(TransferStep step, bool last);
  [[nodiscard]] virtual std::optional<Place> next_flow(bool last);
  // `choice`: several mirrors are alive. The mirrors' own mutex is held, too.
  [[nodiscard]] virtual bool may_ask(std::size_t mirror, bool choice) const = 0;
  [[nodiscard]] virtual bool give_run(Flow& flow, bool last) = 0;  // by start_run()
  [[nodiscard]] virtual Validators expected(std::size_t) const { return job_.version; }
  virtual void came(const Flow&, std::uint64_t /*chunk*/, const Flight&) {}  // a part of a chunk
  [[nodiscard]] virtual bool believes(Whole&) { return true; }               // false: it took the chunk
  virtual void died(std::size_t mirror, bool wrong);
  [[nodiscard]] virtual bool worthless(std::size_t mirror) const = 0;  // what it gave, now that it is dead
  virtual void failed(const Flow& flow, FailureKind kind);
  virtual void rangeless() {}  // no mirror honours ranges: one answer brings the file
  virtual void ended(const Flow&, ByteRange /*left*/) {}
  [[nodiscard]] virtual bool tries_again() { return false; }  // though all mirrors are dead
  // --- one request, in its lane
  virtual void read(Lane& lane, Flow& flow);
  virtual void on_begin(Flow& flow, const ContentInfo& info);
  [[nodiscard]] virtual bool right(std::uint64_t chunk, std::span<const std::byte> bytes) const = 0;
  // A chunk that is believed goes to the partial. True: all lanes wait for the hash of the whole.
  virtual bool store(Lane& lane, const Whole& whole, const std::stop_token& stop) = 0;
  virtual void after_failure(Flow& flow, const Error& error);

  // --- for both kinds; the mutex is held but for read_into() and keep()
  [[nodiscard]] Schedule::Limits limits() const;
  [[nodiscard]] bool under_way() const { return !flows_.empty() || keeping_ > 0; }
  [[nodiscard]] bool start_run(Flow& flow, Schedule::Asks asks);
  void note_done(std::uint64_t chunk);
  void stop_flows(const std::function<bool(const Flow&)>& which);
  void one_answer();
  void read_into(Flow& flow, const ReadRequest& request, const GuardedSink::Write& write);
  bool keep(Lane& lane, const Whole& whole, const std::stop_token& stop);  // store(), once keeping_ counts it

  FetchContext& context_;
  const FileJob& job_;
  const std::uint64_t size_;
  const bool provable_;
  MirrorSet mirrors_;
  std::atomic<TransferPhase> phase_{TransferPhase::fresh};  // changed under the mutex
  bool gave_way_ = false;                                   // written before the phase is over
  FileOutcome outcome_;
  Assembly assembly_;
  std::mutex& mutex_;  // the assembly's; of what follows, too
  std::list<Flow> flows_;
  bool sequential_ = false;  // no mirror honours ranges, one lane reads the whole
  unsigned keeping_ = 0;     // chunks on their way to the partial

 private:
  [[nodiscard]] Task ask(bool last);
  [[nodiscard]] std::optional<Place> help_flow(bool last);  // nothing is free
  [[nodiscard]] std::optional<Place> data_flow(const MirrorSet::Filter& from, bool last);
  void end();
  void run_flow(Lane& lane, Place flow);
  void request(Lane& lane, Flow& flow);
  void read_whole(Lane& lane, Flow& flow);
  void finish_chunk(Lane& lane, Flow& flow, std::uint64_t chunk, const Flight& flight);
  void refuse_chunk(Flow& flow, std::uint64_t chunk, const Flight& flight);
  void ignored_range(Flow& flow, const Error& error);
  void end_flow(Place flow);

  Unanswered unanswered_;
};

}  // namespace sabath
