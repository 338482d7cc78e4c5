#include "fetch/transfer/swarm.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/threads.h"
#include "fetch/transfer/at_hand.h"
#include "fetch/transfer/follow.h"
#include "fetch/transfer/in_order.h"
#include "fetch/transfer/learnt_transfer.h"
#include "fetch/transfer/pinned_transfer.h"
#include "fetch/transfer/publisher.h"

namespace sabath {
namespace {

constexpr auto tick = std::chrono::milliseconds(15);
// At first, while it is learnt how far away hosts are.
constexpr auto early_tick = std::chrono::milliseconds(4);
constexpr unsigned early_ticks = 64;
constexpr std::size_t many = 32;  // files: more than a host gets connections at first

// The size of content that lanes share from the start; nullopt: one lane reads it, or finds out how long it is.
std::optional<std::uint64_t> size_to_share(const FileJob& job) {
  const auto size = job.known ? std::optional(job.known->digest.size_bytes) : job.size_bytes;
  // Without a proof of the whole, the first answer says whether two requests can be known to hear of one version.
  const bool first_asks = !job.known && (job.unless || job.inspect || job.checksum.empty());
  return size.value_or(0) > chunk_size_bytes && !first_asks ? size : std::nullopt;
}

class Swarm {
 public:
  Swarm(FetchContext& context, const std::vector<FileJob>& jobs)
      : context_(context),
        jobs_(jobs),
        publisher_(context.store, context.packs ? jobs.size() : 1),
        index_(context.store),
        outcomes_(jobs.size()) {
    // One lane's fatal error ends the others, and so does the caller's stop.
    context_.stop = own_stop_.get_token();
    context_.many = jobs.size() >= many;
  }

  std::vector<FileOutcome> run(std::stop_token caller) {
    const std::stop_callback forward(caller, [this] { own_stop_.request_stop(); });
    lead_lanes();
    try {
      publisher_.flush();  // whole files are kept, after a failure, too
    } catch (...) {
      if (!fatal_) throw;
    }
    if (fatal_) std::rethrow_exception(fatal_);
    return std::move(outcomes_);
  }

 private:
  struct Open {  // several lanes are at work on it
    std::size_t index;
    std::unique_ptr<LeaderWatch> watch;
    std::shared_ptr<ChunkTransfer> transfer;
  };
  struct Followed {  // another process is
    std::size_t index;
    std::unique_ptr<LeaderWatch> watch;
    std::chrono::steady_clock::time_point looked;
  };

  // Watches the hosts, and starts lanes while all that there are have work and the hosts take more.
  void lead_lanes() {
    std::vector<std::jthread> lanes;
    unsigned ticks = 0;
    bool scarce = false;  // no more threads are granted
    std::unique_lock lock(mutex_);
    // A fetch that is stopped before its first lane has none to wait for.
    while (running_ > 0 || (lanes.empty() && !context_.stop.stop_requested())) {
      const unsigned wanted = context_.hosts.connections();
      while (lanes.size() < wanted && !scarce && idle_ == 0 && !over_ && !context_.stop.stop_requested()) {
        const auto id = static_cast<unsigned>(lanes.size());
        scarce = !try_add_thread(lanes, [this, id] { run_lane(id); });
        if (scarce && lanes.empty()) throw Error(few_threads());
        if (scarce) break;
        ++running_;
        if (next_ + lanes.size() >= jobs_.size() && open_.empty()) break;  // no more than there is to do
      }
      changed_.wait_for(lock, ticks++ < early_ticks ? early_tick : tick);
      lock.unlock();
      for (auto& reason : context_.hosts.tick()) context_.events.on(event::Note{std::move(reason)});
      for (auto& pause : context_.hosts.take_pauses()) context_.events.on(std::move(pause));
      context_.ledger.tell();
      lock.lock();
    }
  }

  void run_lane(unsigned id) {
    Lane lane{id, {}, {context_, jobs_}};
    guarded([&] {
      while (!context_.stop.stop_requested() && step(lane)) {}
    });
    guarded([&] { (void)lane.small.settle(publisher_, outcomes_); });  // a stopped lane keeps its whole files
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) changed_.notify_all();
  }

  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fatal_) fatal_ = std::current_exception();
      own_stop_.request_stop();
    }
  }

  // False when nothing is left to do.
  bool step(Lane& lane) {
    if (help_open_transfer(lane) || look_at_leader(lane)) return true;
    std::optional<std::size_t> index;
    {
      std::unique_lock lock(mutex_);
      if (next_ == jobs_.size() && open_.empty() && reading_ == 0 && followed_.empty() && again_.empty()) {
        if (!std::exchange(over_, true)) context_.hosts.wake();
        return false;
      }
      if (!again_.empty()) {
        index = again_.front();
        again_.pop_front();
      } else if (next_ < jobs_.size()) {
        index = next_++;
      }
      if (index) ++reading_;
    }
    if (!index) {
      lane.small.empty() ? rest() : settle(lane);
      return true;
    }
    begin(lane, *index);
    const std::lock_guard lock(mutex_);
    --reading_;
    return true;
  }

  void rest() {
    const auto count = [this](int more) {
      const std::lock_guard lock(mutex_);
      idle_ += static_cast<unsigned>(more);
    };
    count(1);
    context_.hosts.wait(tick);
    count(-1);
  }

  void begin(Lane& lane, std::size_t index) {
    auto watch = watch_for(context_, jobs_[index]);
    if (watch && watch->look() == Leader::active) return follow(index, std::move(watch));
    read(lane, index, std::move(watch));
  }

  void read(Lane& lane, std::size_t index, std::unique_ptr<LeaderWatch> watch) {
    if (const auto size = size_to_share(jobs_[index]))
      return open_transfer(index, *size, std::nullopt, std::move(watch));
    std::optional<std::uint64_t> size;
    std::uint64_t reused = 0;
    bool gave_way = false;
    std::optional<SmallFile> small;
    lane.small.expect();
    {
      InOrder reader(context_, publisher_, lane, jobs_[index], watch.get(), !context_.many);
      reader.leave_out(heard_of(index));
      outcomes_[index] = reader.run();
      small = reader.take_small();
      size = reader.size_to_share();
      reused = reader.reused();
      gave_way = reader.gave_way();
    }  // gives its partial back
    if (small) return keep(lane, index, std::move(*small));
    if (gave_way) return follow(index, std::move(watch));
    if (size) open_transfer(index, *size, reused, nullptr);
  }

  void keep(Lane& lane, std::size_t index, SmallFile small) {
    ++reading_;  // until it is settled
    lane.small.add(index, std::move(small));
    if (lane.small.due()) settle(lane);
    lane.buffer = lane.small.spare();
  }

  // A file that is not what it should be is read anew, from another mirror, and hashed at once.
  void settle(Lane& lane) {
    const auto count = static_cast<unsigned>(lane.small.size());
    for (const auto& [index, mirror, failure] : lane.small.settle(publisher_, outcomes_)) {
      InOrder reader(context_, publisher_, lane, jobs_[index], nullptr, true);
      reader.distrust(mirror, failure);
      outcomes_[index] = reader.run();
    }
    reading_ -= count;
  }

  // Another process fetches it: what it publishes is waited for, and meanwhile this one has other files.
  void follow(std::size_t index, std::unique_ptr<LeaderWatch> watch) {
    context_.events.on(event::Note{fmt::format("{}: another process is fetching it", jobs_[index].name)});
    const std::lock_guard lock(mutex_);
    followed_.push_back({index, std::move(watch), {}});
  }

  // Looks at one of the leaders, if it is time. False: there is nothing to do about any.
  bool look_at_leader(Lane& lane) {
    std::unique_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (followed_.empty() || now - followed_.front().looked < LeaderWatch::interval) return false;
    Followed followed = std::move(followed_.front());
    followed_.pop_front();
    ++reading_;
    lock.unlock();
    const Leader leader = followed.watch->look();
    if (leader == Leader::none) {
      read(lane, followed.index, std::move(followed.watch));
    } else if (leader == Leader::published) {
      take_published(lane, followed.index);
    }
    lock.lock();
    --reading_;
    if (leader != Leader::active) return true;
    followed.looked = std::chrono::steady_clock::now();
    followed_.push_back(std::move(followed));
    return false;
  }

  // It may be gone already, or be what this fetch does not want to believe.
  void take_published(Lane& lane, std::size_t index) {
    if (!at_hand(context_, jobs_[index], false, outcomes_[index])) return begin(lane, index);
    context_.events.on(event::FileDone{jobs_[index].name, outcomes_[index].tree.digest.size_bytes});
  }

  void open_transfer(std::size_t index, std::uint64_t size, std::optional<std::uint64_t> begun,
                     std::unique_ptr<LeaderWatch> watch) {
    const FileJob& job = jobs_[index];
    std::shared_ptr<ChunkTransfer> transfer;
    if (job.known) {
      transfer = std::make_shared<PinnedTransfer>(context_, buffers_, index_, job);
    } else {
      auto learnt = std::make_shared<LearntTransfer>(context_, buffers_, job, size, begun, watch.get());
      learnt->leave_out(heard_of(index));
      transfer = std::move(learnt);
    }
    const std::lock_guard lock(mutex_);
    open_.push_back({index, std::move(watch), std::move(transfer)});
    changed_.notify_all();
  }

  // Works on the first transfer that has something to do; removes those that are over.
  bool help_open_transfer(Lane& lane) {
    std::vector<std::shared_ptr<ChunkTransfer>> open;
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(open_, [&](auto& entry) {
        if (!entry.transfer->over()) return false;
        if (entry.transfer->gave_way()) {
          followed_.push_back({entry.index, std::move(entry.watch), {}});
        } else {
          outcomes_[entry.index] = std::move(entry.transfer->outcome());
          if (may_come_yet(entry.index)) again_.push_back(entry.index);
        }
        return true;
      });
      for (const auto& entry : open_) open.push_back(entry.transfer);
      last = next_ == jobs_.size();
    }
    if (!open.empty()) settle(lane);  // it may be at work for long
    return std::any_of(open.begin(), open.end(), [&](const auto& transfer) { return transfer->work(lane, last); });
  }

  // Of a file whose size a mirror named that turned out to be wrong: those that named another are heard next, alone.
  // The mutex is held.
  bool may_come_yet(std::size_t index) {
    const FileOutcome& outcome = outcomes_[index];
    if (!outcome.failure || outcome.of_other_size.empty()) return false;
    MirrorSet::Heard& heard = heard_[index];
    const std::size_t before = heard.size();
    for (std::size_t mirror = 0; mirror < jobs_[index].urls.size(); ++mirror) {
      if (!outcome.of_other_size.contains(mirror)) heard.emplace(mirror, *outcome.failure);
    }
    return heard.size() > before;
  }

  MirrorSet::Heard heard_of(std::size_t index) {
    const std::lock_guard lock(mutex_);
    const auto found = heard_.find(index);
    return found == heard_.end() ? MirrorSet::Heard{} : found->second;
  }

  FetchContext& context_;
  const std::vector<FileJob>& jobs_;
  Publisher publisher_;
  ChunkBuffers buffers_;
  ChunkIndex index_;
  std::stop_source own_stop_;
  std::mutex mutex_;
  std::condition_variable changed_;    // for the leader
  unsigned running_ = 0, idle_ = 0;    // lanes
  std::atomic<unsigned> reading_ = 0;  // files that are begun
  bool over_ = false;
  std::size_t next_ = 0;
  std::deque<Open> open_;
  std::deque<Followed> followed_;
  std::deque<std::size_t> again_;                            // files that some mirrors are still to be heard for ...
  std::unordered_map<std::size_t, MirrorSet::Heard> heard_;  // ... and the mirrors that have been
  std::vector<FileOutcome> outcomes_;
  std::exception_ptr fatal_;
};

// Content that several jobs name is fetched once: by the first of them, and if that fails by the next. Each entry is
// the first job with the same content, maybe the job itself; nullopt if no two jobs name the same.
std::optional<std::vector<std::size_t>> first_of_each(const std::vector<FileJob>& jobs) {
  std::unordered_map<Digest, std::size_t> seen;
  std::vector<std::size_t> first(jobs.size());
  bool twice = false;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    first[i] = jobs[i].known ? seen.try_emplace(jobs[i].known->digest, i).first->second : i;
    twice = twice || first[i] != i;
  }
  return twice ? std::optional(std::move(first)) : std::nullopt;
}

// The outcomes of all jobs from those of the first of each content.
std::vector<FileOutcome> share(FetchContext& context, const std::vector<FileJob>& jobs,
                               const std::vector<std::size_t>& first, std::vector<FileOutcome> fetched) {
  std::vector<FileOutcome> outcomes(jobs.size());
  std::vector<FileJob> again;
  std::vector<std::size_t> owners;
  std::size_t next = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (first[i] == i) {
      outcomes[i] = std::move(fetched[next++]);
    } else if (!outcomes[first[i]].failure) {
      outcomes[i] = outcomes[first[i]];
      context.events.on(event::BytesReused{jobs[i].known->digest.size_bytes, Reuse::content});
      context.events.on(event::FileDone{jobs[i].name, jobs[i].known->digest.size_bytes});
    } else {
      again.push_back(jobs[i]);
      owners.push_back(i);
    }
  }
  if (again.empty()) return outcomes;
  auto late = fetch_all(context, again);  // fewer each time: the first of each content is done with
  for (std::size_t i = 0; i < owners.size(); ++i) outcomes[owners[i]] = std::move(late[i]);
  return outcomes;
}

}  // namespace

std::vector<FileOutcome> fetch_all(FetchContext& context, const std::vector<FileJob>& jobs) {
  if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  FetchContext own = context;
  std::vector<FileOutcome> outcomes;
  if (const auto first = first_of_each(jobs)) {
    std::vector<FileJob> once;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if ((*first)[i] == i) once.push_back(jobs[i]);
    }
    outcomes = share(context, jobs, *first, Swarm(own, once).run(context.stop));
  } else {
    outcomes = Swarm(own, jobs).run(context.stop);
  }
  if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  return outcomes;
}

}  // namespace sabath
