// One file of several chunks: any lane reads any of its bytes from any mirror that may be believed. Thread-safe.
//
// Which bytes, and from whom, a Schedule decides. A chunk's bytes meet in one buffer (a Flight), and the lane that
// brings the last of them sees to it that it is hashed and goes to the partial. How they are believed:
// - known (pinned): each chunk has its hash. A wrong one is thrown away and its giver is not asked again.
// - provable (a published checksum): mirrors whose size, validators and samples agree are read together, and the whole
//   is hashed in order as it comes. If it is wrong, each is heard alone. What one gives while compared is kept later.
// - neither: one source, one version; another takes over from the start.
// What other processes, or other objects of the store, have is not fetched; what others have claimed comes last.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "fetch/chunk_reuse.h"
#include "fetch/context.h"
#include "fetch/flow.h"
#include "fetch/front_hash.h"
#include "fetch/guarded_sink.h"
#include "fetch/job.h"
#include "fetch/lane.h"
#include "fetch/mirrors.h"
#include "fetch/schedule.h"
#include "fetch/trust.h"
#include "fetch/unanswered.h"

namespace sabath {
class ChunkTransfer {
 public:
  // `begun`: the partial holds what this fetch has read, and so many bytes that an earlier one left. `watch`: of others
  // who may be fetching it; nullptr: known content, or it is this process's own.
  ChunkTransfer(FetchContext& context, ChunkBuffers& buffers, ChunkIndex& index, const FileJob& job,
                std::uint64_t size_bytes, std::optional<std::uint64_t> begun, LeaderWatch* watch);
  ~ChunkTransfer();
  // Does one thing that is to be done; false: nothing is, just now. `last`: nothing else is left to begin, so that
  // small pieces, and splitting late requests, are worth it. Throws what is fatal.
  bool work(Lane& lane, bool last);
  [[nodiscard]] bool over() const { return phase_ == Phase::over; }
  [[nodiscard]] FileOutcome& outcome() { return outcome_; }  // once over()
  [[nodiscard]] bool gave_way() const { return gave_way_; }  // once over(): another process leads. Nothing is held

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t { fresh, busy, open, over };  // busy: one lane opens, begins anew or publishes
  using Place = std::list<Flow>::iterator;
  // --- phases; one lane
  void open();
  [[nodiscard]] bool leads();
  void adopt_earlier();
  void plan();  // what is missing; the mutex is held
  [[nodiscard]] bool copy_one(Lane& lane, std::unique_lock<std::mutex>& lock);
  void begin_anew();
  void publish();
  void publish_hashed();
  void hear_each_alone(const Failure& failure);
  void blame_suspects();
  void fail(const Failure& failure);
  [[nodiscard]] std::optional<Failure> all_dead(const Error& error);
  // --- decisions; the mutex is held
  [[nodiscard]] bool under_way() const { return !flows_.empty() || keeping_ > 0 || reuse_.under_way(); }
  [[nodiscard]] std::optional<Place> next_flow(bool last);
  [[nodiscard]] std::optional<Place> help_flow(bool last);  // nothing is free
  [[nodiscard]] std::optional<Place> data_flow(const MirrorSet::Filter& from, bool last);
  [[nodiscard]] bool something_came() const;
  [[nodiscard]] bool to_compare(std::size_t mirror) const;
  [[nodiscard]] bool lead_is_open() const;
  [[nodiscard]] bool may_ask(std::size_t mirror, bool choice) const;
  void hear_judgements();
  void note_version(std::size_t mirror);
  [[nodiscard]] bool give_run(Flow& flow, bool last);
  [[nodiscard]] bool claim(Schedule::Place run);
  void take_news(std::chrono::milliseconds interval);
  void note_done(std::uint64_t chunk);
  void stop_flows(const std::function<bool(const Flow&)>& which);
  void want_restart();
  void forget_flights(const std::function<bool(std::uint64_t, const Flight&)>& which);
  // --- one request, in its lane
  void run_flow(Lane& lane, Place flow);
  void read(Lane& lane, Flow& flow);
  void read_whole(Lane& lane, Flow& flow);
  void keep_sample(const Flow& flow, std::uint64_t chunk, const Flight& flight);  // the mutex is held
  void compare_samples(Flow& flow);
  void read_into(Flow& flow, const ReadRequest& request, const GuardedSink::Write& write);
  void on_begin(Flow& flow, const ContentInfo& info);
  void take_bytes(Lane& lane, Flow& flow, std::span<const std::byte> bytes);
  void take_whole(Lane& lane, Flow& flow, std::uint64_t& at, std::span<const std::byte> bytes);
  bool put(Lane& lane, Flow& flow, std::uint64_t at, std::shared_ptr<Flight> flight, std::span<const std::byte> bytes,
           bool adopted, std::unique_lock<std::mutex>& lock);
  void write_scratch(const Lane& lane, Flow& flow, std::uint64_t at, const std::byte* buffer, std::size_t fresh);
  void adopt_scratch(Lane& lane, Flow& flow);
  void finish_chunk(Lane& lane, Flow& flow, std::uint64_t chunk, const Flight& flight);
  bool keep_chunk(Lane& lane, const Whole& whole, const std::stop_token& stop, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool keep_held(Lane& lane, std::unique_lock<std::mutex>& lock);
  void refuse_chunk(Flow& flow, std::uint64_t chunk, const Flight& flight);
  void after_failure(Flow& flow, const Error& error);
  void after_change(std::size_t mirror);                   // the mutex is held
  void want_one_answer();                                  // the mutex is held
  void after_death(std::size_t mirror, FailureKind kind);  // the mutex is held
  void give_back(ByteRange left);                          // the mutex is held
  void end_flow(Place flow);
  [[nodiscard]] std::shared_ptr<Flight> flight_of(std::uint64_t chunk, std::size_t giver);  // the mutex is held

  [[nodiscard]] bool known() const { return job_.known.has_value(); }
  [[nodiscard]] bool wants(std::uint64_t chunk) const { return wanted_ == nullptr || (*wanted_)[chunk]; }
  [[nodiscard]] bool provable() const { return known() || !job_.checksum.empty(); }
  [[nodiscard]] ByteRange range_of(std::uint64_t chunk) const;
  [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }
  FetchContext& context_;
  ChunkBuffers& buffers_;
  const FileJob& job_;
  const std::uint64_t size_;
  std::optional<std::uint64_t> earlier_;   // see `begun`
  const ByteRange slice_;                  // what this rank of a job begins with
  const std::vector<bool>* const wanted_;  // by chunk; nullptr: all
  LeaderWatch* const watch_;
  bool gave_way_ = false;  // written before the phase is over
  const Clock::time_point begun_ = Clock::now();
  MirrorSet mirrors_;
  std::atomic<Phase> phase_{Phase::fresh};  // changed under the mutex
  FileOutcome outcome_;
  std::unique_ptr<SharedPartial> shared_;  // of known content
  std::unique_ptr<OwnPartial> own_;        // of unknown content
  ChunkFile* partial_ = nullptr;           // either
  std::unique_ptr<FrontHash> front_hash_;  // of unknown content
  std::mutex mutex_;                       // of what follows
  ChunkReuse reuse_;
  std::unique_ptr<Schedule> schedule_;
  std::vector<bool> done_;     // by chunk
  std::uint64_t missing_ = 0;  // chunks that are wanted
  std::map<std::uint64_t, std::shared_ptr<Flight>> flights_;
  std::set<std::uint64_t> claimed_;  // chunks, of known content
  std::set<std::uint64_t> alone_;    // came wrong from several: one source brings the whole
  std::list<Flow> flows_;
  std::map<std::size_t, std::uint64_t> probes_;  // the chunk by which a mirror is to prove itself
  std::uint64_t reused_ = 0;                     // adopted, of unknown content: said at the end
  bool sequential_ = false, restart_ = false;    // the first: no mirror honours ranges, one lane reads the whole
  Clock::time_point looked_{};                   // for news of other processes
  Unanswered unanswered_;
  Trust trust_;
  unsigned keeping_ = 0;  // chunks that are believed, and on their way to the partial
};

}  // namespace sabath
